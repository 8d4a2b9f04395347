import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { openLog, parseLogFilter } from '../../../session/open-log.ts';

t.test('`parseLogFilter` reads `RUST_LOG` filter syntax', async (t) => {
  const rows: readonly (readonly [string, string, 'error' | 'debug' | 'trace', boolean])[] = [
    ['debug', 'writ::http', 'debug', true],
    ['DEBUG', 'writ::http', 'trace', false],
    ['writ=debug', 'writ::http', 'debug', true],
    ['writ=debug', 'writhing', 'error', false],
    ['writ=debug,writ::http=off', 'writ::http', 'error', false],
    ['writ::http=off,writ=debug', 'writ::session', 'debug', true],
    ['hyper[span{x=1}]=trace/regex, writ=error', 'writ::http', 'error', true],
    ['writ::session', 'writ::session', 'trace', true],
    ['writ=loud', 'writ::session', 'error', false],
    ['off', 'writ', 'error', false],
    ['', 'writ', 'error', false],
  ];
  for (const [text, target, level, told] of rows)
    t.equal(parseLogFilter(text).tells(target, level), told, `${text}: ${target} ${level}`);
});

t.test('a log is a private file with the filter from the environment', async (t) => {
  const root = t.testdir({});
  const stderr: string[] = [];
  const open = (env: Readonly<Record<string, string>>) =>
    openLog({
      env,
      toPath: (given) => join(root, given),
      clock: systemClock,
      stderr: (line) => stderr.push(line),
    });
  const linesOf = (name: string): readonly string[] =>
    readFileSync(join(root, name), 'utf8').trim().split('\n');

  const log = open({ WRIT_LOG_FILE: 'a.log' });
  log.tell('debug', 'http', 'asked', {
    path: 'a\nb',
    odd: '\u001b[2J\u202e\u2028',
    none: undefined,
    status: 200,
  });
  log.tell('trace', 'http', 'never');
  log.close();
  log.tell('error', 'http', 'after its end');
  const [line = '', ...more] = linesOf('a.log');
  t.strictSame(more, [], 'one line for one event, and `debug` where no filter is said');
  t.match(line, /^\d{4}-\S+Z DEBUG writ::http: asked path="a\S+b" odd="\S+" status="200"$/);
  t.notMatch(line, /[\u001b\u202e\u2028]/);
  t.equal(statSync(join(root, 'a.log')).mode & 0o777, 0o600);

  const both = open({ WRIT_LOG_FILE: 'b.log', WRIT_LOG: 'error', RUST_LOG: 'trace' });
  both.tell('debug', 'http', 'hidden');
  both.tell('error', 'http', 'shown');
  both.close();
  t.equal(linesOf('b.log').length, 1, '`WRIT_LOG` wins');
  const again = open({ WRIT_LOG_FILE: 'b.log', RUST_LOG: 'info' });
  again.tell('info', 'http', 'more');
  again.close();
  t.equal(linesOf('b.log').length, 2, 'it is appended to');
  const plain = open({ RUST_LOG: 'warn' });
  plain.tell('warn', 'http', 'to stderr');
  t.equal(plain.file, undefined);
  open({}).tell('error', 'http', 'nowhere');
  t.match(stderr, [/WARN {2}writ::http: to stderr$/]);
  t.equal(stderr.length, 1);

  writeFileSync(join(root, 'loose.log'), '');
  chmodSync(join(root, 'loose.log'), 0o644);
  open({ WRIT_LOG_FILE: 'loose.log' }).close();
  t.equal(statSync(join(root, 'loose.log')).mode & 0o777, 0o600, 'others lose what they could read');
  symlinkSync('a.log', join(root, 'link.log'));
  execFileSync('mkfifo', [join(root, 'pipe.log')]);
  // Somebody reads at its other end: it could be written to.
  const reader = openSync(join(root, 'pipe.log'), constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  mkdirSync(join(root, 'folder.log'));
  for (const name of ['link.log', 'pipe.log', 'folder.log', 'none/x.log'])
    t.throws(() => open({ WRIT_LOG_FILE: name }), { code: 'PRIVATE_FILE_UNSAFE', exitCode: 128 }, name);
});
