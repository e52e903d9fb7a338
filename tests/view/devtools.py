"""Drives Debian's chromium over the DevTools protocol: as much of it as the tests of the page need."""

import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request

try:
    import websocket
except ImportError:
    websocket = None


def missing():
    """Why there is no browser to test with; None when there is."""
    if websocket is None:
        return "python3-websocket is not installed"
    if shutil.which("chromium") is None:
        return "chromium is not installed"
    return None


class Browser:
    """One headless browser with one page. Errors that the page reports are collected in `problems`."""

    def __init__(self, width=1280, height=860):
        self.directory = tempfile.mkdtemp(prefix="tare-browser-")
        arguments = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                     "--mute-audio", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
                     "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={self.directory}",
                     f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self.connect(width, height)
        except Exception:
            self.close()
            raise

    def connect(self, width, height):
        port_file = pathlib.Path(self.directory, "DevToolsActivePort")
        deadline = time.monotonic() + 90
        while not port_file.exists() or not port_file.read_text().strip():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("chromium did not start")
            time.sleep(0.05)
        port = int(port_file.read_text().split()[0])
        while True:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=60) as answer:
                pages = [page for page in json.load(answer) if page["type"] == "page"]
            if pages:
                break
            time.sleep(0.05)
        self.socket = websocket.create_connection(pages[0]["webSocketDebuggerUrl"], timeout=120)
        self.number, self.problems = 0, []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        method, facts = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning"):
            self.problems.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in facts["args"]))
        elif method == "Log.entryAdded" and facts["entry"]["level"] == "error":
            self.problems.append(f"log: {facts['entry']['text']} {facts['entry'].get('url', '')}")

    def open(self, link):
        self.call("Page.navigate", url=link)

    def script(self, expression):
        """The value of a JavaScript expression, promises awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise AssertionError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, expression, seconds=60):
        """Until the expression is true."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = self.script(f"Boolean({expression})")
            except AssertionError:
                value = None
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"never true: {expression}; the page says: {self.script('document.body.innerText')[:600]!r}; "
                                     f"problems: {self.problems}")
            time.sleep(0.03)

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme="light", media=""):
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def key(self, name, text=""):
        for kind in ("keyDown", "keyUp"):
            facts = {"type": kind, "key": name, "code": name, **({"text": text} if text and kind == "keyDown" else {})}
            codes = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9, "Home": 36, "End": 35, "Backspace": 8}
            if name in codes:
                facts["windowsVirtualKeyCode"] = codes[name]
                if name == "Enter" and kind == "keyDown":
                    facts["text"] = "\r"
            self.call("Input.dispatchKeyEvent", **facts)

    def type(self, text):
        for letter in text:
            self.key(letter, letter)

    def middle(self, selector):
        """Where an element is, once it is in the window."""
        return self.script(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});
            const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()""")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        place = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, *place, button="left", clickCount=1)

    def move(self, selector):
        self.mouse("mouseMoved", *self.middle(selector))

    def drag(self, selector, across, down):
        x, y = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for step in range(1, 5):
            self.mouse("mouseMoved", x + across * step / 4, y + down * step / 4, button="left", buttons=1)
        self.mouse("mouseReleased", x + across, y + down, button="left", clickCount=1)

    def picture(self, full=False):
        """A PNG of the window, or of the whole page."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"])

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
