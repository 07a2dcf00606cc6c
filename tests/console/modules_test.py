# SPDX-License-Identifier: Apache-2.0
"""The modules that need no page, in the browser: modules.js."""

import functools
import http.server
import pathlib
import shutil
import tempfile
import threading
import unittest

import harness

ROOT = harness.HERE.parent.parent


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Modules(unittest.TestCase):
    def test_all(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(ROOT)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        scratch = tempfile.mkdtemp(prefix="stator-browser-")
        browser = harness.start_browser(scratch + "/profile", scratch)
        try:
            # Any page of the origin will do.
            browser.get(f"http://127.0.0.1:{server.server_port}/console/favicon.svg")
            result = browser.execute_async_script(
                "const done = arguments[0]; import('/tests/console/modules.js').then((m) => m.runAll()).then(done, (e) => done({failures: [String(e)]}));")
            self.assertEqual(result["failures"], [], "\n".join(result["failures"]))
            self.assertGreater(result["count"], 15)
            print(result["count"], "tests of modules")
        finally:
            browser.quit()
            server.shutdown()
            server.server_close()
            shutil.rmtree(scratch, ignore_errors=True)

    def test_no_file_creates_markup(self):
        for file in sorted(pathlib.Path(ROOT, "console").iterdir()):
            text = file.read_text()
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", " style=", "DOMParser"):
                self.assertNotIn(word, text, file.name)
            self.assertIn("SPDX-License-Identifier: Apache-2.0", text[:400], file.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
