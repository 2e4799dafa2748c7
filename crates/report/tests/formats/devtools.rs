//! A real browser, driven through the pipe of its DevTools protocol: messages are JSON, each ended by a NUL.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Far more than any answer takes; only a browser that hangs is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser of its own, with a profile of its own, which ends with the test.
pub struct Browser {
    process: Child,
    commands: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    sent: Cell<u64>,
    events: RefCell<Vec<Value>>,
    _profile: TempDir,
}

/// How a page is looked at.
#[derive(Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub dark: bool,
    pub scripts: bool,
}

pub const DESKTOP: Look = Look { width: 1280, dark: false, scripts: true };

impl Browser {
    /// Starts Chromium; says so and returns `None` where there is none.
    pub fn start() -> Option<Browser> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let Some(name) = names.into_iter().find(is_there) else {
            let test = std::thread::current().name().unwrap_or("a test in a browser").to_owned();
            eprintln!("SKIPPED {test}: chromium is not installed");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // The pipe is expected at descriptors 3 and 4; a shell puts ours there.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#, name])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--remote-debugging-pipe", "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = RefCell::new(process.stdin.take().unwrap());
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (sent, events) = (Cell::new(0), RefCell::new(Vec::new()));
        Some(Browser { process, commands, messages, sent, events, _profile: profile })
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&self, file: &Path, look: Look) -> Page<'_> {
        let target = self.call(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session =
            self.call(None, "Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        let page = Page { browser: self, session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let size =
            json!({ "width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": look.width < 700 });
        page.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        page.call("Emulation.setEmulatedMedia", features);
        page.call("Emulation.setScriptExecutionDisabled", json!({ "value": !look.scripts }));
        page.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while page.events("Page.loadEventFired").is_empty() {
            let message = self.receive();
            self.events.borrow_mut().push(message);
        }
        page
    }

    /// Lets pages write to the clipboard, which a person allows by using the page.
    pub fn allow_clipboard(&self) {
        self.call(None, "Browser.grantPermissions", json!({ "permissions": ["clipboardSanitizedWrite"] }));
    }

    fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.sent.get() + 1;
        self.sent.set(id);
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let mut commands = self.commands.borrow_mut();
        commands.write_all(format!("{command}\0").as_bytes()).unwrap();
        commands.flush().unwrap();
        loop {
            let mut message = self.receive();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.borrow_mut().push(message);
        }
    }

    fn receive(&self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the browser answers")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub struct Page<'a> {
    browser: &'a Browser,
    session: String,
}

impl Page<'_> {
    fn call(&self, method: &str, params: Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    /// What the page has reported under this name.
    pub fn events(&self, method: &str) -> Vec<Value> {
        let events = self.browser.events.borrow();
        let own = events.iter().filter(|event| event["sessionId"] == self.session.as_str());
        own.filter(|event| event["method"] == method).map(|event| event["params"].clone()).collect()
    }

    /// The value of an expression.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true; what follows an input is not done at once.
    #[track_caller]
    pub fn wait_for(&self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != true {
            assert!(start.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Moves the pointer onto the element.
    #[track_caller]
    pub fn point_at(&self, selector: &str) -> [f64; 2] {
        let place = self.value(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{block: 'center', \
             behavior: 'instant'}}); const box = element.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        let [x, y] = [0, 1].map(|index| place[index].as_f64().unwrap());
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
        [x, y]
    }

    #[track_caller]
    pub fn click(&self, selector: &str) {
        let [x, y] = self.point_at(selector);
        for event in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": event, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Turns the wheel over the element with Ctrl held down, away from the user or towards.
    #[track_caller]
    pub fn zoom_with_wheel(&self, selector: &str, away: bool) {
        let [x, y] = self.point_at(selector);
        const CTRL: u32 = 2;
        let delta = if away { -120 } else { 120 };
        let turn =
            json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta, "modifiers": CTRL });
        self.call("Input.dispatchMouseEvent", turn);
    }

    /// Presses a key by its name, or by the character it types.
    pub fn press(&self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "Tab" => (9, ""),
            "ArrowUp" => (38, ""),
            "ArrowDown" => (40, ""),
            character => (0, character),
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let down = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text });
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", up);
    }
}
