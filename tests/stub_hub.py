"""A small Hugging Face Hub on 127.0.0.1: what its API lists, where its files are, and its moods.

Large files (.safetensors, .gguf) lie on a second server, the "CDN", to which the first one sends
the client, as the real one does. Knows nothing of who fetches.
"""

import contextlib
import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" * 6 + "beef"
LARGE = (".safetensors", ".gguf", ".bin")
MEMBER, STRANGER = "hf_member", "hf_stranger"  # tokens: with access to what is gated, and without


@dataclass
class Repo:
    """files: by path. listed: what the API says in the place of what is true."""

    files: dict[str, bytes]
    gated: bool = False
    commit: str = COMMIT
    listed: dict = field(default_factory=dict)

    def info(self, name):
        """As GET /api/models/{name}?blobs=true answers."""
        facts = {
            "id": name,
            "sha": self.commit,
            "gated": "manual" if self.gated else False,
            "cardData": {"license": "apache-2.0"},
            "safetensors": {"parameters": {"BF16": 1000}, "total": 1000},
            "siblings": [sibling(path, content) for path, content in self.files.items()],
        }
        return facts | self.listed


def sibling(path, content):
    """A file as the API lists it."""
    git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    sha256 = hashlib.sha256(content).hexdigest()
    lfs = {"sha256": sha256, "size": len(content), "pointerSize": 134}
    large = {"lfs": lfs} if path.endswith(LARGE) else {}
    return {"rfilename": path, "size": len(content), "blobId": git} | large


@dataclass
class Mood:
    """How the next answer for a file goes wrong."""

    status: int = 0  # answered in the place of the file
    cut: int | None = None  # bytes after which the connection ends
    instead: bytes | None = None  # sent in the place of the content
    whole: bool = False  # a range asked for is not heeded
    wait: threading.Event | None = None  # nothing more comes after `cut` until it is set


class Hub:
    """Both servers. requests: (method, path, headers in small letters), of all; moods: by path,
    used up in turn.
    """

    def __init__(self):
        self.repos: dict[str, Repo] = {}
        self.requests, self.moods = [], {}
        self.answer = None  # a (status, headers, body) given to every question to the API
        at = ("127.0.0.1", 0)  # two free ports
        self.api = ThreadingHTTPServer(at, _handler(self, "api"))
        self.cdn = ThreadingHTTPServer(at, _handler(self, "cdn"))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.api.server_port}"

    def asked(self, ending):
        """The ranges with which files of this ending were asked for, in order."""
        found = [(p, h) for _, p, h in self.requests if p.endswith(ending) and "/resolve/" not in p]
        return [headers.get("range", "") for _, headers in found]

    @contextlib.contextmanager
    def open(self):
        """Both servers answer inside this block."""
        servers = (self.api, self.cdn)
        threads = [threading.Thread(target=s.serve_forever, args=(0.01,)) for s in servers]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()
            for thread in threads:
                thread.join()


def _handler(hub, kind):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            path = unquote(urlsplit(self.path).path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            hub.requests.append((self.command, path, headers))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.from_cdn(path) if kind == "cdn" else self.from_api(path)

        def from_api(self, path):
            owner, name, *rest = path.removeprefix("/api/models").strip("/").split("/")
            repo = hub.repos.get(f"{owner}/{name}")
            if path.startswith("/api/models/") and hub.answer:
                return self.send(*hub.answer)
            if error := self.error_of(repo, bool(rest)):
                return self.send(*error)
            if not rest:
                body = json.dumps(repo.info(f"{owner}/{name}")).encode()
                return self.send(200, {"Content-Type": "application/json"}, body)
            return self.resolve(repo, f"{owner}/{name}", "/".join(rest[2:]))

        def error_of(self, repo, wants_file):
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token and token not in (MEMBER, STRANGER):
                said = "Invalid credentials in Authorization header"
                return 401, {"X-Error-Message": said}, b""
            if repo is None:  # who is not known is not told whether it is there
                return (404 if token else 401), {"X-Error-Code": "RepoNotFound"}, b""
            if repo.gated and wants_file and token != MEMBER:
                return (403 if token else 401), {"X-Error-Code": "GatedRepo"}, b""
            return None

        def resolve(self, repo, name, path):
            if path not in repo.files:
                return self.send(404, {"X-Error-Code": "EntryNotFound"}, b"")
            mood = next(iter(hub.moods.get(path, ())), None)
            if mood and mood.status:
                hub.moods[path].pop(0)
                return self.send(mood.status, {}, b"")
            facts = {"X-Repo-Commit": repo.commit, "X-Xet-Hash": "0" * 64, "ETag": '"x"'}
            place = f"http://127.0.0.1:{hub.cdn.server_port}/{name}/{path}"
            if not path.endswith(LARGE):
                return self.content(repo.files[path], path, facts)
            return self.send(302, facts | {"Location": place}, b"")

        def from_cdn(self, path):
            owner, name, file = path.strip("/").split("/", 2)
            self.content(hub.repos[f"{owner}/{name}"].files[file], file, {})

        def content(self, content, path, headers):
            mood = hub.moods[path].pop(0) if hub.moods.get(path) else Mood()
            content = content if mood.instead is None else mood.instead
            first = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-")
            first = 0 if mood.whole else int(first)
            if first:
                headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
            self.send(206 if first else 200, headers, content[first:], mood)

        def send(self, status, headers, body, mood=None):
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body if mood is None else body[: mood.cut])
            self.wfile.flush()
            if mood and mood.wait:
                mood.wait.wait(20)
            self.close_connection = True

    return Handler
