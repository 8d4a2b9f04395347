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

long('a reader without keys verifies a release with those of `writ report`', { skip }, async (t) => {
  const { trust, runId, git, repo } = sealed ?? { trust: '', runId: '', git: () => '', repo: '' };
  const range = ['--release', 'HEAD~1..HEAD'];
  const key = ['--key', join(trust, 'signer.pem')];
  const people = ['--allowed-signers', join(trust, 'people')];
  const [id = ''] = (await report(...range)).error.hints[0].match(/[0-9a-f]{64}/) ?? [];
  t.match(await report(...range), {
    code: 3,
    data: { commits: [{ sealed: true, verified: false, signer: { trusted: false, key_id: id } }] },
  });
  const warning = /people had to approve this change, and whether they did was NOT verified/;
  const trusted = await report(...range, ...key);
  t.match(trusted, {
    code: 0,
    data: {
      warnings: [{ code: 'APPROVALS_UNVERIFIED', message: warning }],
      commits: [
        {
          verified: true,
          run_id: runId,
          author: /<.*@/,
          authored_at: /Z$/,
          signer: { trusted: true, key_id: id },
          checks: { passed: 2, expected: 2 },
          approvers: ['ana@example.org'],
          approvals_verified: false,
        },
      ],
    },
  });
  const both = await report(...range, ...key, ...people);
  t.match(both.data, { warnings: undefined, commits: [{ approvals_verified: true }] });

  for (const target of [range, [runId]]) {
    t.match(await page(...target, ...key), warning);
    t.notMatch(await page(...target, ...key, ...people), warning);
  }
  t.match(await page(runId, ...key), 'alone, not by a list of the reader');
  t.match(await page(runId, ...key, ...people), 'the given list (`--allowed-signers`) confirms it');
  t.match(await page(...range, ...key), '1 by 1 person, all by the list in the repository alone');
  t.match(await page(runId), /Verified +no: .*untrusted-signer/, 'no key, no verdict');
  t.match(await report(runId, '--junit', 'x.xml', ...key), {
    code: 129,
    error: { message: /needs `--html FILE`/ },
  });

  git(repo, 'commit', '-q', '--allow-empty', '-m', 'by hand');
  const text = async (...argv: string[]) =>
    (await runLine(['report', ...argv], commands, { cwd: repo, env: sealed?.env ?? {} })).out;
  const list = await text('--release', 'HEAD~2..HEAD', ...key);
  const line = new RegExp(
    `by .*; run ${runId.slice(0, 13)}; sealed with key ${id.slice(0, 16)}; 2 of 2 checks passed`,
  );
  t.match(list, line);
  t.match(list, /not sealed {4}[0-9a-f]{12} {2}\d{4}-\d\d-\d\d {2}by hand\n {14}by Dana <dana@example.org>/);
  const shown = await page('--release', 'HEAD~2..HEAD', ...key);
  t.equal(shown.split(/\bby hand\b/).length, 2, 'an unsealed commit is listed once');
  t.match(await text(runId), /^Committed/);
});
