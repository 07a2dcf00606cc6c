# SPDX-License-Identifier: Apache-2.0
"""A server, a browser, and what a person does with both: for tests of the console.

STATOR is the program, SCREENSHOTS a directory for pictures. Every wait ends after a minute. A test
fails if the browser reports an error or a violation of the content security policy.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import (ElementClickInterceptedException, ElementNotInteractableException,
                                        NoSuchElementException, StaleElementReferenceException)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import Select, WebDriverWait

HERE = pathlib.Path(__file__).parent
WAIT_S = int(os.environ.get("CONSOLE_WAIT_S", "60"))
TRANSIENT = (NoSuchElementException, StaleElementReferenceException, ElementNotInteractableException,
             ElementClickInterceptedException, AssertionError)
MARKUP = '<img src=x onerror="document.title=\'owned\'">'


def headers(operation):
    return {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810." + operation,
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
                             "SignedHeaders=host;x-amz-date;x-amz-target, Signature=00"}


class Server:
    """stator serve on a free port, with a directory of buckets."""

    def __init__(self, *arguments):
        self.directory = tempfile.mkdtemp(prefix="stator-console-")
        self.buckets = pathlib.Path(self.directory, "buckets")
        self.buckets.mkdir()
        self.process = subprocess.Popen(
            [os.environ["STATOR"], "serve", "--memory", "--listen", "127.0.0.1:0", "--buckets", str(self.buckets), *arguments],
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def stop(self):
        self.process.terminate()
        status = self.process.wait(timeout=WAIT_S)
        self.process.stdout.close()
        shutil.rmtree(self.directory)
        assert status == 0, f"the server ended with {status}"

    def call(self, operation, **body):
        request = urllib.request.Request(self.url + "/", json.dumps(body).encode(), headers(operation))
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{operation}: {error.read().decode()}") from error

    def stator(self, noun, verb, *arguments):
        """What a command of stator's prints."""
        result = subprocess.run([os.environ["STATOR"], noun, verb, "--endpoint", self.url, *arguments], capture_output=True, text=True,
                                timeout=WAIT_S, check=False)
        assert result.returncode == 0, f"stator {noun} {verb}: {result.stderr}"
        return result.stdout

    def create(self, table, sort=None, **more):
        keys = [("pk", "HASH", "S")] + ([(sort, "RANGE", more.pop("sort_type", "S"))] if sort else [])
        definitions = [{"AttributeName": n, "AttributeType": t} for n, _, t in keys]
        definitions += more.pop("attributes", [])
        return self.call("CreateTable", TableName=table, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=definitions,
                         KeySchema=[{"AttributeName": n, "KeyType": k} for n, k, _ in keys], **more)

    def put(self, table, **item):
        self.call("PutItem", TableName=table, Item=item)


def start_browser(profile, downloads):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--window-size=1280,900",
                     f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": downloads})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.set_page_load_timeout(WAIT_S)
    browser.set_script_timeout(WAIT_S)
    return browser


class ConsoleTest(unittest.TestCase):
    arguments = ()  # of the server

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="stator-browser-")
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.downloads = pathlib.Path(cls.scratch, "downloads")
        cls.downloads.mkdir()
        cls.server = Server(*cls.arguments)
        cls.addClassCleanup(cls.server.stop)
        cls.browser = start_browser(cls.scratch + "/profile", str(cls.downloads))
        cls.addClassCleanup(cls.browser.quit)

    def tearDown(self):
        errors = [entry for entry in self.browser.get_log("browser")
                  if entry["level"] == "SEVERE" and not self.is_refusal(entry)]
        self.assertEqual(errors, [], "the browser reports errors")
        self.assertNotEqual(self.browser.title, "owned", "text became markup")

    @staticmethod
    def is_refusal(entry):
        """Whether an entry is the browser's report of a response with status 400 from the API."""
        return entry["source"] == "network" and "status of 400" in entry["message"]

    # ---- What a person does

    def open(self, fragment=""):
        self.browser.get("about:blank")
        self.browser.get(f"{self.server.url}/console/{fragment}")

    def until(self, condition, what="the condition"):
        """The first result of `condition` that is not false."""
        last = []

        def attempt(_):
            try:
                return condition()
            except TRANSIENT as error:
                last[:] = [error]
                return False
        try:
            return WebDriverWait(self.browser, WAIT_S, poll_frequency=0.05).until(attempt)
        except Exception:
            self.screenshot("failure-" + self.id().rsplit(".", 1)[-1])
            text = self.browser.find_element(By.TAG_NAME, "body").text
            raise AssertionError(f"timed out waiting for {what}: {last}\n{text}") from None

    def one(self, css, inside=None):
        return self.until(lambda: next(e for e in (inside or self.browser).find_elements(By.CSS_SELECTOR, css) if e.is_displayed())
                          if any(e.is_displayed() for e in (inside or self.browser).find_elements(By.CSS_SELECTOR, css)) else False, css)

    def all(self, css):
        return [e for e in self.browser.find_elements(By.CSS_SELECTOR, css) if e.is_displayed()]

    def named(self, name, tags):
        """The visible element with this accessible name, in the open dialog if there is one."""
        script = """
            const [name, tags] = arguments;
            const root = [...document.querySelectorAll('dialog[open]')].pop() ?? document;
            const text = (e) => (e.getAttribute('aria-label') ?? (e.labels?.length ? e.labels[0].textContent : e.textContent)).trim();
            return [...root.querySelectorAll(tags)].find((e) => text(e) === name && !e.disabled && e.getClientRects().length) ?? null;"""
        return self.until(lambda: self.browser.execute_script(script, name, tags), f"{tags} named {name!r}")

    def click(self, name):
        self.until(lambda: self.named(name, "button, a, summary, input[type=checkbox], input[type=radio], [role=option]").click() or True, name)

    def control(self, label):
        return self.named(label, "input, select, textarea")

    def fill(self, label, text):
        def attempt():
            control = self.control(label)
            control.clear()
            control.send_keys(text)
            return control if control.get_attribute("value") == text else False
        return self.until(attempt, f"{label} to take {text!r}")

    def choose(self, label, option):
        self.until(lambda: Select(self.control(label)).select_by_visible_text(option) or True, label)

    def keys(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def tab_to(self, name, backwards=False):
        """Presses Tab until the focus is on the control with this text."""
        def step():
            if backwards:
                self.chord(Keys.SHIFT, Keys.TAB)
            else:
                self.keys(Keys.TAB)
            return self.browser.execute_script("return (document.activeElement?.textContent ?? '').trim()") == name
        self.until(step, f"focus on {name}")

    def chord(self, modifier, key):
        ActionChains(self.browser).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def see(self, text, css="body"):
        self.until(lambda: any(text in e.text for e in self.browser.find_elements(By.CSS_SELECTOR, css)), f"{text!r} in {css}")

    def no_longer(self, css):
        self.until(lambda: not self.all(css), f"no {css}")

    def cells(self):
        """The texts of the grid's rows, without types."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('.grid tbody tr')].map((r) => [...r.querySelectorAll('td[data-name]')]"
            ".map((c) => c.dataset.text ?? ''))")

    def see_rows(self, count):
        self.until(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".grid tbody tr")) == count, f"{count} rows")

    def downloaded(self, suffix):
        def found():
            files = [f for f in self.downloads.iterdir() if f.name.endswith(suffix)]
            return files[0] if files else False
        file = self.until(found, f"a download {suffix}")
        text = self.until(lambda: file.read_bytes().decode() or False)
        file.unlink()
        return text

    def screenshot(self, name):
        directory = pathlib.Path(os.environ.get("SCREENSHOTS", self.scratch))
        directory.mkdir(parents=True, exist_ok=True)
        self.browser.save_screenshot(str(directory / f"{name}.png"))

    def theme(self, name):
        self.browser.execute_script("document.documentElement.dataset.theme = arguments[0]", name)

    # ---- Accessibility

    def check_accessibility(self, name):
        """Checks the page in both themes and at the width of a phone, and takes pictures."""
        script = (HERE / "accessibility.js").read_text()
        self.browser.execute_script("document.querySelectorAll('.toast').forEach((e) => e.remove())")
        for theme in ("dark", "light"):
            self.theme(theme)
            self.until(lambda: not self.browser.execute_script("return document.getAnimations().length"))
            self.assertEqual(self.browser.execute_script(script), [], f"{name}, {theme}")
            self.screenshot(f"{name}-{theme}")
        self.browser.set_window_size(390 + self.frame_width(), 844)
        try:
            self.until(lambda: self.browser.execute_script("return innerWidth") <= 520)
            self.assertEqual(self.browser.execute_script(script), [], f"{name}, narrow")
            self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth - innerWidth"), 0,
                                 f"{name} scrolls sideways on a phone")
            self.screenshot(f"{name}-phone")
        finally:
            self.browser.set_window_size(1280, 900)

    def frame_width(self):
        return self.browser.execute_script("return outerWidth - innerWidth")

    def check_tab_order(self, least):
        """Tabs through the page: focus is visible and follows the order of the document."""
        self.browser.execute_script("delete window.lastFocused; document.getElementById('skip').focus()")
        seen = 0
        last = None
        for _ in range(300):
            self.keys(Keys.TAB)
            state = self.browser.execute_script("""
                const e = document.activeElement;
                if (!e || e === document.body) return null;
                const last = window.lastFocused;
                window.lastFocused = e;
                const visible = (x) => { const s = getComputedStyle(x); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1; };
                return {html: e.outerHTML.slice(0, 120), visible: visible(e) || visible(e.closest('.editor') ?? e),
                        after: !last || Boolean(last.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)};""")
            if state is None or (last is not None and not state["after"]):
                break
            self.assertTrue(state["visible"], "focus is invisible: " + state["html"])
            seen += 1
            last = state
        self.assertGreaterEqual(seen, least)


def main():
    unittest.main(verbosity=2)
