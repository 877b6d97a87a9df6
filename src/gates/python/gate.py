"""The decision of a gate in Python 3.9 with the standard library alone.

`decide` and `settle` are pure: the record of the gate, the published keys, the ended grants, the clock and the request
go in, a decision comes out. Reading those, calling Usher and writing the answer is the adapter's. The kinds of decisions: `pass`
(to the site), `ask` (call the queue's pass, then `settle`), `return` and `room` (303 to the location), `wait` (429),
`closed` (503).

The standard library cannot verify Ed25519. The last part of this file does (RFC 8032), in some milliseconds a grant.
Where the package `cryptography` is installed, it verifies instead. Verifying uses public values alone, so its time
betrays nothing.
"""

import base64
import hashlib
import json
import math
import re
from urllib.parse import quote, unquote_to_bytes

TOKEN_LENGTH_MAX = 4096
COOKIES_MAX = 4
FORM_TYPE = "application/x-www-form-urlencoded"
CLOSED = {"kind": "closed", "retryAfterSeconds": 5}
TOKEN = re.compile(r"([\w-]+\.([\w-]+))\.([\w-]+)", re.ASCII)
HOST = re.compile(r"([a-z0-9.-]+?)\.?(:[0-9]{1,5})?")
LOCAL = re.compile(r"(localhost|127\.0\.0\.1)(:[0-9]+)?")
STATE = re.compile(r"[\w-]{20,64}", re.ASCII)
# For which a browser that was sent to the room may return.
STATE_SECONDS = 86_400
# A page of the same site: no other host, no backslash that browsers read as a slash, no line break.
PAGE = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]{0,1998})?")


class Gate:
    """What a gate knows when a request arrives.

    gate: the answer of `GET /gates/{gateId}`; key_set: that of its `keysUrl`; ended: the `jti` of ended grants;
    now: milliseconds since the Unix epoch; new_state: a random text, new for each request, that names a browser which is
    sent to the room.
    """

    def __init__(self, gate, key_set, ended, reachable, now, new_state):
        self.gate, self.ended, self.reachable, self.now, self.new_state = gate, ended, reachable, now, new_state
        self.keys = [bytes_of(key["x"]) for key in key_set["keys"] if key.get("crv") == "Ed25519"]

    def decide(self, request):
        """request: `method`, `target`, `headers` by names in lower case; perhaps `form`, `crawler`."""
        if path_of(request["target"]) == self.gate["returnPath"]:
            return self._returned(request)
        rule = self._rule_for(request)
        if rule is None or rule["then"] == "pass":
            return {"kind": "pass"}
        queue_id = rule["then"]["queueId"]
        queue = self.gate["queues"].get(queue_id)
        if queue is None:
            return self._failed(rule)
        name = self._cookie_name(request, queue["experienceId"])
        for token in cookies_in(request, name)[:COOKIES_MAX]:
            claims = self._grant_in(token)
            if claims and claims["experienceId"] == queue["experienceId"]:
                return {"kind": "pass", "jti": claims["jti"]}
        state = queue.get("state", "open")
        if state == "ended":
            return ended(rule)
        if not self.reachable:
            return dict(CLOSED) if state == "scheduled" else self._failed(rule)
        return self._sent_away(request, queue["roomUrl"]) if queue["engaged"] else {"kind": "ask", "queueId": queue_id}

    def settle(self, request, answer):
        """What follows from the answer of `pass`.

        Its status is `ROOM` if Usher does not take the visitor from a gate now, `ENDED` if the queue has ended, `REFUSED`
        if there is no such queue, `FAILED` if there was no answer.
        """
        if answer["status"] == "QUEUED":
            return self._sent_away(request, answer["roomUrl"])
        if answer["status"] == "REFUSED":
            return dict(CLOSED)
        rule = self._rule_for(request)
        if answer["status"] == "ENDED":
            return ended(rule)
        then = rule["then"] if rule else "pass"
        queue = None if then == "pass" else self.gate["queues"].get(then["queueId"])
        if answer["status"] == "ROOM" and queue:
            return self._sent_away(request, queue["roomUrl"])
        token = answer["admissionGrant"] if answer["status"] == "GRANTED" else ""
        claims = self._grant_in(token)
        if claims is None:
            return self._failed(rule)
        return {"kind": "pass", "jti": claims["jti"], "cookie": self._cookie_of(request, token, claims)}

    def _returned(self, request):
        """A grant counts only from the browser that was sent away, and once.

        Another browser may have been led here with a grant of its own, and a request may be repeated. A grant that does
        not count leads on too: the page's own rule decides.
        """
        query = request["target"].partition("?")[2]
        decision = {"kind": "return", "location": page_in(field_in(query, "to"))}
        is_form = request["headers"].get("content-type", "").lower().startswith(FORM_TYPE)
        is_of_browser = field_in(query, "state") in self._states_in(request)
        if request["method"] != "POST" or not is_form or not is_of_browser:
            return decision
        token = field_in(request.get("form", ""), "usher_grant")
        claims = self._grant_in(token)
        if claims is None:
            return decision
        return {**decision, "cookies": [self._cookie_of(request, token, claims), self._state_cookie(request, "", 0)]}

    def _grant_in(self, token):
        """The claims of a grant that opens one of the gate's queues."""
        parts = TOKEN.fullmatch(token) if len(token) <= TOKEN_LENGTH_MAX else None
        if not parts or not self._is_signed(parts[1].encode(), bytes_of(parts[3])):
            return None
        claims = json.loads(bytes_of(parts[2]))
        expected = {
            "type": "admission",
            "iss": "usher",
            "aud": "usher:admission",
            "organizationId": self.gate["organizationId"],
            "mode": self.gate.get("mode", "live"),
        }
        is_over = "exp" in claims and claims["exp"] * 1000 <= self.now
        if is_over or claims["jti"] in self.ended or any(claims.get(name) != expected[name] for name in expected):
            return None
        is_of_gate = any(queue["experienceId"] == claims["experienceId"] for queue in self.gate["queues"].values())
        return claims if is_of_gate else None

    def _is_signed(self, signed, signature):
        return any(is_signature(key, signed, signature) for key in self.keys)

    def _failed(self, rule):
        mode = (rule or {}).get("failMode", self.gate["failMode"])
        return {"kind": "pass"} if mode == "open" else dict(CLOSED)

    def _sent_away(self, request, room_url):
        if not is_navigation(request["headers"]):
            return {"kind": "wait", "roomUrl": room_url, "retryAfterSeconds": 10}
        host = self._host_of(request)
        origin = ("http://" if LOCAL.fullmatch(host) else "https://") + host
        # The tabs of a browser share its state.
        state = next(iter(self._states_in(request)), self.new_state)
        back = f"{origin}{self.gate['returnPath']}?to={quote(page_in(request['target']), safe='')}&state={state}"
        mark = "&" if "?" in room_url else "?"
        location = f"{room_url}{mark}return={quote(back, safe='')}"
        return {"kind": "room", "location": location, "cookie": self._state_cookie(request, state, STATE_SECONDS)}

    def _state_name(self, request):
        """Its path is always the root: the return path must get it."""
        prefix = "__Secure-" if "domain" in self.gate["cookie"] else "__Host-"
        return f"{'' if LOCAL.fullmatch(self._host_of(request)) else prefix}usher-state"

    def _states_in(self, request):
        values = cookies_in(request, self._state_name(request))[:COOKIES_MAX]
        return [value for value in values if STATE.fullmatch(value)]

    def _state_cookie(self, request, state, max_age):
        """The room may be another site, which posts the grant: browsers send only `SameSite=None` cookies with that."""
        parts = [f"{self._state_name(request)}={state}", "Path=/"]
        parts += [f"Domain={self.gate['cookie']['domain']}"] if "domain" in self.gate["cookie"] else []
        is_local = LOCAL.fullmatch(self._host_of(request))
        return "; ".join([*parts, "HttpOnly", "SameSite=Lax" if is_local else "SameSite=None; Secure", f"Max-Age={max_age}"])

    def _host_of(self, request):
        """The host of a request with its port if it is the gate's, else the gate's first."""
        parts = HOST.fullmatch(request["headers"].get("host", "").lower())
        is_own = parts and parts[1] in self.gate["hosts"]
        return parts[1] + (parts[2] or "") if is_own else self.gate["hosts"][0]

    def _cookie_name(self, request, experience_id):
        """`__Host-` keeps out cookies that other hosts of the domain have set."""
        cookie = self.gate["cookie"]
        prefix = "__Host-" if "domain" not in cookie and cookie.get("path", "/") == "/" else "__Secure-"
        is_local = LOCAL.fullmatch(self._host_of(request))
        return f"{'' if is_local else prefix}{cookie.get('name', 'usher-grant')}-{experience_id}"

    def _cookie_of(self, request, token, claims):
        cookie = self.gate["cookie"]
        parts = [f"{self._cookie_name(request, claims['experienceId'])}={token}", f"Path={cookie.get('path', '/')}"]
        parts += [f"Domain={cookie['domain']}"] if "domain" in cookie else []
        parts += ["HttpOnly", "SameSite=Lax"]
        parts += [] if LOCAL.fullmatch(self._host_of(request)) else ["Secure"]
        parts += [f"Max-Age={max(1, math.floor(claims['exp'] - self.now / 1000))}"] if "exp" in claims else []
        return "; ".join(parts)

    def _rule_for(self, request):
        """The first rule that fits. One that protects fits by any reading of the path, one that lets pass by all."""
        sent = unescaped(path_of(request["target"]))
        readings = [sent, resolved(unescaped(unescaped(sent)))]
        for rule in self.gate["rules"]:
            lets = rule["then"] == "pass"
            fitting = [fits_path(rule["when"], lets, reading) for reading in readings]
            if (all(fitting) if lets else any(fitting)) and fits_rest(rule["when"], request):
                return rule
        return None


def ended(rule):
    """What a queue protected stays closed after its end, whatever the fail mode says."""
    if (rule or {}).get("afterEnd") == "pass":
        return {"kind": "pass"}
    return {"kind": "closed", "retryAfterSeconds": 60, "because": "ended"}


def is_navigation(headers):
    is_script = "x-requested-with" in headers or headers.get("sec-fetch-mode", "navigate") != "navigate"
    return not is_script and "text/html" in headers.get("accept", "").lower()


def fits_path(when, lets, reading):
    path = rule_text(when["path"]) if "path" in when else None
    prefix = rule_text(when.get("pathPrefix", ""))
    if lets:
        return path in (None, reading) and reading.startswith(prefix)
    is_path = path is None or bare(path) == bare(reading)
    return is_path and lower(reading).startswith(lower(prefix))


def fits_rest(when, request):
    if "methods" in when and request["method"] not in when["methods"]:
        return False
    if "header" in when:
        value = request["headers"].get(when["header"]["name"].lower())
        if value is None or value != when["header"].get("value", value):
            return False
    if "cookie" in when and not cookies_in(request, when["cookie"]):
        return False
    return "crawler" not in when or when["crawler"] == request.get("crawler")


def cookies_in(request, name):
    """The values of all cookies of this name."""
    pairs = [pair.strip() for pair in request["headers"].get("cookie", "").split(";")]
    return [pair[len(name) + 1 :] for pair in pairs if pair.startswith(f"{name}=")]


def path_of(target):
    """The path of a target, without scheme and host where a proxy sends them."""
    return re.sub(r"(?s)[?#].*", "", re.sub(r"(?i)^https?://[^/?#]*", "", target)) or "/"


def page_in(page):
    return page if PAGE.fullmatch(page) else "/"


def field_in(text, name):
    """The first field of this name in a query or form; empty if there is none."""
    for pair in text.split("&"):
        if pair.startswith(f"{name}="):
            return unescaped(pair[len(name) + 1 :].replace("+", " "))
    return ""


def resolved(path):
    """Without empty and dot segments, backslashes and parameters of segments."""
    segments = []
    parts = path.replace("\\", "/").split("/")
    for part in parts:
        segment = part.partition(";")[0]
        if segment == "..":
            segments[-1:] = []
        elif segment not in ("", "."):
            segments.append(segment)
    return "/" + "/".join(segments) + ("/" if segments and parts[-1] == "" else "")


def bare(path):
    """Many origins take these for the same."""
    return lower(path.rstrip("/"))


def lower(text):
    return text.encode("latin-1", "replace").lower().decode("latin-1")


def unescaped(text):
    """Decodes escapes to characters of one byte each, and leaves what is no escape."""
    return unquote_to_bytes(text.encode("latin-1", "replace")).decode("latin-1")


def rule_text(path):
    """The path of a rule, which may have escapes, in the characters of `unescaped`."""
    return unescaped(path.encode().decode("latin-1"))


def bytes_of(base64url):
    try:
        return base64.urlsafe_b64decode(base64url + "=" * (-len(base64url) % 4))
    except ValueError:
        return b""


# Ed25519 (RFC 8032), for machines without `cryptography`. Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(scalar, point):
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def point_of(encoded):
    """The point of 32 bytes; None if they are none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return (x, y, 1, x * y % P)


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signature_here(key, signed, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r, s = point_of(key), point_of(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + signed).digest(), "little") % ORDER
    one, other = times(s, BASE), add(r, times(h, a))
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (one[1] * other[2] - other[1] * one[2]) % P == 0


def is_signature_by_package(key, signed, signature):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    is_signature = is_signature_by_package
except ImportError:
    is_signature = is_signature_here
