import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { callWrit } from '../../../bin/code/agent-at.ts';
import { personRepository } from '../vcs/person-repository.ts';

t.test(
  '`callWrit` returns the JSON output of read-only commands and refuses all other commands',
  async (t) => {
    const { root: cwd, env } = personRepository();
    const { signal } = new AbortController();
    const ask = callWrit({ cwd, env });
    t.strictSame(await ask(['runs'], signal), { ok: true, command: 'runs', data: { runs: [] } });
    t.match(await ask(['show', '--', 'none'], signal), { ok: false, error: { code: 'RUN_NOT_FOUND' } });
    t.match(await ask(['verify', '--', '-'], signal), { ok: false }, 'standard input is not read');
    writeFileSync(join(cwd, 'spec.json'), '{}');
    t.match(await ask(['spec', 'validate', '--', 'spec.json'], signal), {
      error: { code: 'INTENTSPEC_INVALID' },
      data: { files: [{ path: 'spec.json', valid: false }] },
    });
    for (const words of [
      ['run'],
      ['init'],
      ['cancel', 'x'],
      ['vault', 'list'],
      ['redact'],
      ['code', '--stdio'],
    ])
      t.match(await ask(words, signal), { ok: false, error: { code: 'USAGE' } }, words.join(' '));
    t.match(await ask(['show', '--', '--json'], signal), { ok: false }, 'behind `--` no word is an option');
    t.match(await ask(['scan'], AbortSignal.abort()), { ok: false });
  },
);
