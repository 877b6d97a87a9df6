"""A site of one page behind a gate: `site.py wsgi|asgi URL GATE KEY`. Prints its port."""

import asyncio
import http.server
import pathlib
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "src/gates/python"))
from adapter import Asgi, Field, Wsgi  # noqa: E402

kind, url, gate_id, key = sys.argv[1:]
field = Field(url, gate_id, key)


def wsgi_site(environ, start_response):
    start_response("200 OK", [("Set-Cookie", "own=1")])
    return [b"the site"]


async def asgi_site(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"set-cookie", b"own=1")]})
    await send({"type": "http.response.body", "body": b"the site"})


class Asking(http.server.BaseHTTPRequestHandler):
    """As much of a server for ASGI as one page needs."""

    def do_GET(self):
        asyncio.run(self.answer())

    do_POST = do_GET

    async def answer(self):
        path, _, query = self.path.partition("?")
        headers = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        scope = {"type": "http", "method": self.command, "path": path, "query_string": query.encode(), "headers": headers}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            if message["type"] == "http.response.start":
                self.send_response(message["status"])
                for name, value in message["headers"]:
                    self.send_header(name.decode(), value.decode())
                self.end_headers()
            else:
                self.wfile.write(message["body"])

        await Asgi(asgi_site, field)(scope, receive, send)

    def log_message(self, *_):
        pass


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


class Threads(ThreadingMixIn, WSGIServer):
    daemon_threads = True


if kind == "wsgi":
    server = Threads(("127.0.0.1", 0), Quiet)
    server.set_app(Wsgi(wsgi_site, field))
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Asking)
print(server.server_port, flush=True)
server.serve_forever()
