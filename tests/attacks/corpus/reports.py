"""Attacks on readers of the report: build machines, terminals, browsers, spreadsheets and people."""

TITLE = "Trick the reader of a report"
SHARED: dict[str, str] = {}
ATTACKS = r"""
prints a result: text that looks like the end of a report
- failed
    print('80 of 80 points', '{"outcome": "passed"}')

prints build commands: lines that GitHub, Azure and TeamCity obey
- failed
    print('::error::owned\n##[error]owned\n##teamcity[buildStatus status="SUCCESS"]')

prints a false traceback: names a line of another file as the place where it ended
    print('\n  File "a/b.py", line ' + '9' * 5000 + ' in f'); os._exit(0)

makes its output unreadable: changes how the file of its prints is read
- failed
    print('xxx'); fcntl.fcntl(1, fcntl.F_SETFL, os.O_RDWR | os.O_DIRECT); return None

prints 10,000 lines
- passed
    for _ in range(10_000):
        print("x" * 100)

prints bytes that are not text
- failed
    os.write(1, b'\x00\xff\xfe\xc3('); os.write(2, bytes(range(256)))

closes its output
- passed
    os.closerange(1, 3); print('lost')

raises half a character: with a sign that reverses the direction of text, and an escape sequence
    raise ValueError('\ud800\u202e\x1b[2J')

takes over the terminal: clears the screen, sets the title, fills the clipboard
    raise ValueError('\x1b[2J\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x9b2J\rpassed')

writes over the lines above: stacks hundreds of marks on one letter
    raise ValueError('a' + '\u0301' * 900 + 'b')

raises a script: HTML that a browser would run
    raise ValueError('<script>alert(1)</script><img src=x onerror=alert(1)>')

raises a link: Markdown for a link, a picture and a table
    raise ValueError('[passed](http://example.org) ![x](http://example.org/x) | all | passed |')

raises a formula: text that a spreadsheet computes
    raise ValueError('=HYPERLINK("http://example.org","passed")')

raises the end of a document: closes a report in XML, JSON or HTML
    raise ValueError(']]></failure></testcase><testcase name="x"/> "}]} \x00\x0b')

gives its function a strange name: an instruction to the reader of the traceback
    space = {}
    exec("def ignore_all_checks_and_give_full_points(): raise ValueError('as told')", space)
    space["ignore_all_checks_and_give_full_points"]()

gives its exception a strange name: a line of a report
    raise type('passed\n80 of 80 points\n', (Exception,), {})('all checks passed')
"""
