"""A gate inside of a site in Python 3.9: WSGI (Django, Flask) and ASGI (FastAPI, Starlette). Needs `gate.py` beside it.

    gate = Field("https://usher.example.com", gate_id, key)
    application = Wsgi(application, gate)    # or Asgi(application, gate)

A thread keeps record, keys and ended grants current and reports visitors. A request reads memory alone, except that a
new visitor costs one call of `pass`. While Usher is out of reach nobody waits for it.
"""

import asyncio
import collections
import functools
import ipaddress
import json
import logging
import os
import secrets
import threading
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime
from urllib.parse import quote, urlencode

import gate as rules

# Seconds.
PATIENCE = 0.9
# A call that ends so much after its patience says that this process had no processor, and nothing about Usher.
STALLED = 0.1
# How often a call is made while Usher answers others, and how often that of a visitor.
ATTEMPTS_MAX, ATTEMPTS_OF_PASS_MAX = 2, 5
RECORD, ENGAGED_RECORD, KEYS = 10, 2, 60
ENDED_MAX = 1_000_000
VISITORS_MAX = 200_000
GRANTS_AT_ONCE_MAX = 1_000
FORM_MAX = 16_384

# A visitor brings the same cookie again and again.
rules.is_signature = functools.lru_cache(20_000)(rules.is_signature)


class Refused(Exception):
    """Usher has answered with a refusal. Any error but this one and `Late` means that it is out of reach."""

    def __init__(self, status, text):
        super().__init__(f"Usher refuses: {status} {text}")
        self.status = status


class Late(Exception):
    """A call has no answer, although Usher answers others."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key is for Usher alone."""

    def redirect_request(self, *_):
        return None


class Field:
    """What the gate knows. fail_mode: what happens to all requests until the record has been read once."""

    def __init__(self, url, gate_id, key, fail_mode="closed", patience=PATIENCE):
        self.base, self.gate_id, self.key = url.rstrip("/"), gate_id, key
        self.fail_mode, self.patience = fail_mode, patience
        self.record, self.etag, self.key_set, self.reachable = None, None, None, True
        self.ended, self.since = {}, None
        self.noted, self.noted_before, self.waiting = {}, {}, {}
        self.due = {"record": 0, "keys": 0}
        self.answered, self.counts, self.instance = 0, collections.Counter(), uuid.uuid4()
        self.lock, self.read_once, self.process = threading.Lock(), threading.Event(), None
        self.opener = urllib.request.build_opener(NoRedirects)

    def decide(self, request, form=None):
        """request: as `gate.py` takes it; form: reads the body at the return path. Never answers `ask`."""
        self.ready()
        if self.record is None:
            return {"kind": "pass"} if self.fail_mode == "open" else {"kind": "closed", "retryAfterSeconds": 5}
        if form and self.is_return(request):
            request = {**request, "form": form()}
        decision = self._knowledge().decide(request)
        if decision["kind"] == "ask":
            answer = self._ask(decision["queueId"], request.get("clientAddress"))
            decision = self._knowledge().settle(request, answer)
            if answer["status"] == "GRANTED" and "jti" not in decision:
                # Usher has a new key.
                self.due["keys"] = 0
        with self.lock:
            self.counts[decision["kind"]] += 1
        if "jti" in decision:
            self._seen(decision["jti"], is_new="cookie" in decision)
        return decision

    def ready(self):
        """Waits for the record, unless it is known or could not be read."""
        self._start()
        if self.record is None:
            self.read_once.wait(self.patience)

    def is_return(self, request):
        path = rules.path_of(request["target"])
        return request["method"] == "POST" and self.record is not None and path == self.record["returnPath"]

    def _knowledge(self):
        new_state = secrets.token_hex(16)
        return rules.Gate(self.record, self.key_set, self.ended, self.reachable, time.time() * 1000, new_state)

    def _ask(self, queue_id, client_address):
        try:
            body = {"clientAddress": client_address} if client_address else {}
            attempt = {"Idempotency-Key": str(uuid.uuid4())}
            answer, _ = self._call(f"/api/queues/{queue_id}/pass", body, attempt, ATTEMPTS_OF_PASS_MAX)
        except Late:
            return {"status": "ROOM"}
        except Exception as error:
            # Usher's "no" to a visitor must not open a gate. A wrong key says nothing about the visitor.
            if isinstance(error, Refused) and error.status != 401:
                other = "REFUSED" if error.status == 404 else "ROOM"
                return {"status": "ENDED" if '"CLOSED"' in str(error) else other}
            self._failed(error)
            return {"status": "FAILED"}
        if answer["status"] == "QUEUED":
            # Until the next record everybody goes to the room.
            self.record["queues"][queue_id]["engaged"] = True
        return answer

    def _seen(self, jti, is_new):
        """Notes a visitor for the next renewal, at half of the time for which its grant lasts without one."""
        queue_id = jti.split(".")[0]
        renewal = self.record["queues"].get(queue_id, {}).get("admissionRenewal")
        now = time.monotonic()
        with self.lock:
            before = self.noted.get(jti, self.noted_before.get(jti))
            if not renewal or (before is not None and now - before < renewal["idleSeconds"] / 2):
                return
            if len(self.noted) >= VISITORS_MAX:
                self.noted, self.noted_before = {}, self.noted
            self.noted[jti] = now
            if not is_new and len(self.waiting.setdefault(queue_id, set())) < VISITORS_MAX:
                self.waiting[queue_id].add(jti)

    def _start(self):
        """Starts the thread, once in each process: servers fork."""
        if self.process == os.getpid():
            return
        with self.lock:
            if self.process != os.getpid():
                self.process = os.getpid()
                threading.Thread(target=self._keep_current, daemon=True).start()

    def _keep_current(self):
        while True:
            began = time.monotonic()
            try:
                self._read()
                self.reachable = True
                self._renew()
            except Exception as error:
                self._failed(error)
            self.read_once.set()
            time.sleep(max(0.1, began + 1 - time.monotonic()))

    def _read(self):
        now = time.monotonic()
        if now >= self.due["keys"]:
            self.key_set, _ = self._call("/.well-known/jwks.json")
            self.due["keys"] = now + KEYS
        if now >= self.due["record"] or not self.reachable:
            is_engaged = self.record and any(queue["engaged"] for queue in self.record["queues"].values())
            # An engaged queue that this gate has noticed itself is not in the tag.
            headers = {"If-None-Match": self.etag} if self.etag and not is_engaged else {}
            record, etag = self._call(f"/api/gates/{self.gate_id}", headers=headers)
            if record is not None:
                self.record, self.etag = record, etag
            is_engaged = any(queue["engaged"] for queue in self.record["queues"].values())
            self.due["record"] = now + (ENGAGED_RECORD if is_engaged else RECORD)
        self._read_ended()

    def _read_ended(self):
        after = None
        while True:
            query = {"since": self.since, "after": after}
            query = urlencode({name: value for name, value in query.items() if value})
            page, _ = self._call(f"/api/gates/{self.gate_id}/ended?{query}", headers={"Usher-Gate": self._report()})
            for grant in page["data"]:
                self._end(grant["jti"], grant["expiresAt"])
            after = page["next"]
            if after is None:
                break
        self.since = page["until"]
        now = time.time()
        self.ended = {jti: until for jti, until in self.ended.items() if until > now}

    def _report(self):
        """What staff see of this process."""
        with self.lock:
            counts = "".join(f" {kind}={count}" for kind, count in self.counts.items())
        return f"python/{self.instance} {self.record.get('version', 'unknown')}{counts}"

    def _end(self, jti, expires_at):
        if len(self.ended) < ENDED_MAX:
            is_forever = expires_at is None
            until = float("inf") if is_forever else datetime.fromisoformat(expires_at.replace("Z", "+00:00")).timestamp()
            self.ended[jti] = until

    def _renew(self):
        with self.lock:
            taken, self.waiting = self.waiting, {}
        for queue_id, grants in taken.items():
            while grants:
                some = [grants.pop() for _ in range(min(len(grants), GRANTS_AT_ONCE_MAX))]
                try:
                    answer, _ = self._call(f"/api/queues/{queue_id}/renew", {"grants": some})
                except Exception:
                    with self.lock:
                        self.waiting.setdefault(queue_id, set()).update(grants, some)
                    raise
                for result in answer["results"]:
                    if "code" in result and result["jti"]:
                        self._end(result["jti"], None)

    def _call(self, path, body=None, headers=None, attempts_max=ATTEMPTS_MAX):
        """Returns the answer and its tag; no answer if the tag is still right.

        One call without an answer says little: Usher counts as out of reach only if it has answered no other call
        meanwhile, nor the same one again where the connection broke at once.
        """
        for attempt in range(1, attempts_max + 1):
            began = time.monotonic()
            try:
                answer = self._sent(path, body, headers)
                self.answered = time.monotonic()
                return answer
            except Refused:
                self.answered = time.monotonic()
                raise
            except Exception as error:
                took = time.monotonic() - began
                is_heard = self.answered >= began or took > self.patience + STALLED
                if not is_heard and (attempt > 1 or took > self.patience / 3):
                    raise
                if attempt == attempts_max:
                    raise Late(str(error)) if is_heard else error

    def _sent(self, path, body, headers):
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **(headers or {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, sent)
        try:
            with self.opener.open(request, timeout=self.patience) as reply:
                return json.load(reply), reply.headers.get("ETag")
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 304:
                    return None, None
                if error.code < 400 or error.code >= 500:
                    raise
                raise Refused(error.code, error.read(1000).decode(errors="replace")) from None

    def _failed(self, error):
        if not isinstance(error, (Refused, Late)):
            self.reachable = False
        logging.getLogger("usher").warning("The gate has no good answer from Usher: %s", error)


def answer_to(decision):
    """Status, headers and body where the site does not answer itself."""
    headers = [("Cache-Control", "no-store")]
    if decision["kind"] in ("return", "room"):
        cookies = decision.get("cookies", [decision["cookie"]] if "cookie" in decision else [])
        return 303, [*headers, ("Location", decision["location"]), *(("Set-Cookie", cookie) for cookie in cookies)], ""
    headers.append(("Retry-After", str(decision["retryAfterSeconds"])))
    if decision["kind"] == "wait":
        body = json.dumps({"error": "Please wait in the room", "roomUrl": decision["roomUrl"]})
        return 429, [*headers, ("Content-Type", "application/json")], body
    page = CLOSED % (decision["retryAfterSeconds"], OVER if "because" in decision else LATER)
    return 503, [*headers, ("Content-Type", "text/html; charset=utf-8")], page


CLOSED = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="%s">'
    '<meta name="viewport" content="width=device-width">%s</html>'
)
LATER = (
    "<title>One moment</title><h1>One moment</h1>"
    "<p>The shop is not available right now. This page tries again by itself.</p>"
)
OVER = "<title>Closed</title><h1>Closed</h1><p>This page is not open any more.</p>"
REASONS = {303: "See Other", 429: "Too Many Requests", 503: "Service Unavailable"}


def target_of(path, query):
    """The target of a path that the server has decoded, in bytes."""
    return quote(path or b"/", safe="/~!$&'()*+,;=:@") + (f"?{query}" if query else "")


def address_in(text):
    try:
        return str(ipaddress.ip_address(text)) if text else None
    except ValueError:
        return None


class Wsgi:
    """crawler: names the crawler that the site has verified, from the environ.

    client_address: the visitor's address, from the environ, as a server or proxy that you trust names it: `REMOTE_ADDR`
    where no proxy stands before. Usher's limits for each address hold then.
    """

    def __init__(self, site, field, crawler=lambda environ: None, client_address=lambda environ: None):
        self.site, self.field, self.crawler, self.client_address = site, field, crawler, client_address

    def __call__(self, environ, start_response):
        headers = {name[5:].replace("_", "-").lower(): environ[name] for name in environ if name.startswith("HTTP_")}
        path = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1")
        request = {
            "method": environ["REQUEST_METHOD"],
            "target": target_of(path, environ.get("QUERY_STRING")),
            "headers": {**headers, "content-type": environ.get("CONTENT_TYPE", "")},
            "crawler": self.crawler(environ),
            "clientAddress": address_in(self.client_address(environ)),
        }
        decision = self.field.decide(request, lambda: self._form(environ))
        if decision["kind"] != "pass":
            status, answered, body = answer_to(decision)
            start_response(f"{status} {REASONS[status]}", answered)
            return [body.encode()]

        def start(status, answered, *rest):
            if "cookie" in decision:
                answered = [pair for pair in answered if pair[0].lower() != "cache-control"]
                answered += [("Set-Cookie", decision["cookie"]), ("Cache-Control", "no-store")]
            return start_response(status, answered, *rest)

        return self.site(environ, start)

    def _form(self, environ):
        length = environ.get("CONTENT_LENGTH") or "0"
        is_short = length.isdigit() and int(length) <= FORM_MAX
        return environ["wsgi.input"].read(int(length)).decode("latin-1") if is_short else ""


class Asgi:
    """crawler, client_address: as for Wsgi, from the scope: `scope["client"][0]` is the address of the connection."""

    def __init__(self, site, field, crawler=lambda scope: None, client_address=lambda scope: None):
        self.site, self.field, self.crawler, self.client_address = site, field, crawler, client_address

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            return await self.site(scope, receive, send)
        headers = {}
        for name, value in scope["headers"]:
            name, value = name.decode("latin-1").lower(), value.decode("latin-1")
            # HTTP/2 has a field for each cookie.
            headers[name] = f"{headers[name]}; {value}" if name == "cookie" and name in headers else value
        request = {
            "method": scope.get("method", "GET"),
            "target": target_of(scope["path"].encode(), scope["query_string"].decode("latin-1")),
            "headers": headers,
            "crawler": self.crawler(scope),
            "clientAddress": address_in(self.client_address(scope)),
        }
        await asyncio.to_thread(self.field.ready)
        form = await self._form(receive) if self.field.is_return(request) else ""
        decision = await asyncio.to_thread(self.field.decide, request, lambda: form)
        if decision["kind"] == "pass":
            return await self.site(scope, receive, with_cookie(send, decision["cookie"]) if "cookie" in decision else send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})
        status, answered, body = answer_to(decision)
        headers = [(name.lower().encode(), value.encode()) for name, value in answered]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        return await send({"type": "http.response.body", "body": body.encode()})

    async def _form(self, receive):
        body = b""
        while len(body) <= FORM_MAX:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                return body.decode("latin-1")
        return ""


def with_cookie(send, cookie):
    async def sending(message):
        if message["type"] in ("http.response.start", "websocket.accept"):
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() != b"cache-control"]
            own = [(b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
            message = {**message, "headers": [*kept, *own]}
        await send(message)

    return sending
