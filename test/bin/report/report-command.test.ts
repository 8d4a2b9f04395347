import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { isLong, long } from '../../rooms/long.ts';
import { makeSealedRepository } from '../commands/sealed-repository.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

/** A run in a sandbox, an approval and its seal on a busy machine. */
t.setTimeout(400_000);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-report-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));

const rule = 'require-approvers --min 1';
/** The repository, not the spec, wants people and no log. */
const sealed =
  isLong && !withoutSshKeygen
    ? await makeSealedRepository(root, {
        files: {
          'config.toml': `[[checks.always]]\nid = "one-person"\nstage = "release"\nkind = "policy"\ncommand = "${rule}"\n`,
          owners: 'a.txt ana@example.org\n',
        },
        spec: { provenance: { transparencyLog: { mode: 'none' } } },
      })
    : undefined;
const skip = withoutSshKeygen || (sealed ? false : 'writ doctor: no run works on this machine');

/** `writ report` of somebody who knows no one. */
async function report(...argv: string[]) {
  const { repo, env } = sealed ?? { repo: root, env: {} };
  const { code, out } = await runLine(['--json', 'report', ...argv], commands, { cwd: repo, env });
  const document = JSON.parse(out);
  if (document.data) t.strictSame(faultsOf('report', document.data), [], argv.join(' '));
  return { code, ...document };
}

let pages = 0;
/** The page of a target, without its markup. */
async function page(...argv: string[]): Promise<string> {
  const path = join(root, `page-${pages++}.html`);
  await report(...argv, '--html', path);
  return readFileSync(path, 'utf8')
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#96;', '`');
}

long('a page says what demanded the approval, and that no log was asked for', { skip }, async (t) => {
  const shown = await page(sealed?.runId ?? '');
  t.match(
    shown,
    `The policy of the repository asks for 1 approval, in its check \`one-person\` (\`${rule}\`).`,
  );
  t.match(shown, 'The file `.writ/owners` asks for an approval by ana@example.org, for changes of `a.txt`.');
  t.notMatch(shown, /no approval|The spec asks for \d/i);
  t.match(shown, /Log +none: the spec asks for no log entry/);
  t.notMatch(shown, /log inclusion|see the log proof/);
});
