import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { parseVkey } from '../../../attest/log/ledger-key.ts';
import { formatTrustedRoot } from '../../../attest/log/trusted-root.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { withoutOpenssl } from '../../attest/material/openssl.ts';
import { makeSealedRepository } from './sealed-repository.ts';

/** A run in a sandbox, an approval and its seal on a busy machine. */
t.setTimeout(400_000);
const page = readFileSync(new URL('../../../docs/consuming.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(sh|text|js)\n([\s\S]*?)^```$/gm)].map(([, kind, text = '']) => ({
  kind,
  text,
}));
const recipes = blocks.flatMap(({ kind, text }, n) =>
  kind === 'sh' ? [{ text, expected: blocks[n + 1]?.kind === 'text' ? blocks[n + 1]?.text : undefined }] : [],
);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-consuming-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const without = withoutSshKeygen || withoutOpenssl;
const sealed = without ? undefined : await makeSealedRepository(root);
const skip = without || (sealed ? false : 'writ doctor: no run works on this machine');
const modules = resolve(import.meta.dirname, '../../../node_modules');

/** A consumer's directory, with what the page says is needed. */
function makePlace(name: string): string {
  if (sealed === undefined) throw new Error('no repository');
  const place = join(root, name);
  cpSync(sealed.trust, place, { recursive: true });
  sealed.git(root, 'clone', '-q', '--mirror', sealed.repo, join(place, 'origin.git'));
  writeFileSync(
    join(place, 'log-root.json'),
    formatTrustedRoot([parseVkey(readFileSync(join(place, 'log.vkey'), 'utf8').trim())]),
  );
  writeFileSync(join(place, 'verify.mjs'), blocks.find(({ kind }) => kind === 'js')?.text ?? '');
  symlinkSync(modules, join(place, 'node_modules'));
  return place;
}

/** Runs every recipe of the page in one shell; gives what each printed, the last one being that at which it stopped. */
function follow(
  place: string,
  before = '',
): { readonly status: number | null; readonly printed: readonly string[]; readonly err: string } {
  const mark = '=== next recipe ===';
  const script = [before, ...recipes.map(({ text }) => `echo '${mark}'\n${text}`)].join('\n');
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: place,
    env: { ...sealed?.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` },
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, printed: stdout.split(`${mark}\n`).slice(1), err: stderr };
}

/** `…` on a line stands for anything on it, alone for any number of lines. */
function formOf(expected: string): RegExp {
  const lines = expected.trimEnd().split('\n');
  const quoted = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*');
  return new RegExp(
    `^${lines.map((line) => (line === '…' ? '(?:.*\\n)*?' : `${quoted(line)}\\n`)).join('')}$`,
  );
}

t.test(
  'every recipe of docs/consuming.md does what the page says, with no part of writ',
  { skip },
  async (t) => {
    const { status, printed, err } = follow(makePlace('good'));
    t.equal(status, 0, err);
    t.equal(printed.length, recipes.length);
    t.ok(recipes.length >= 8);
    for (const [n, { text, expected }] of recipes.entries())
      if (expected !== undefined) t.match(printed[n], formOf(expected), text.slice(0, 200));
  },
);

t.test('what was changed stops at the recipe that looks at it', { skip }, async (t) => {
  if (sealed === undefined) return;
  const index = (word: string) => recipes.findIndex(({ text }) => text.includes(word)) + 1;
  const amended = `git clone -q origin.git amend && cd amend && git -c user.name=E -c user.email=e@x commit -q --amend --no-edit --date=2020-01-01T00:00:00Z && git push -q --force origin HEAD:main && cd .. && rm -rf amend`;
  const cases: Record<string, { readonly before: string; readonly at: number }> = {
    'another key': {
      before:
        'openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -out signer.pem 2>/dev/null',
      at: index('openssl dgst'),
    },
    'another commit with the same trailers': { before: amended, at: index('hash-object') },
    'nobody who may approve': { before: 'cp nobody people', at: index('ssh-keygen') },
    'another log': { before: 'cp other-root.json log-root.json', at: index('verify.mjs') },
  };
  const stranger = makeKey(root, 'stranger');
  for (const [name, { before, at }] of Object.entries(cases)) {
    const place = makePlace(name.replaceAll(' ', '-'));
    writeFileSync(
      join(place, 'nobody'),
      `ana@example.org namespaces="writ-approval@v1" ${publicOf(stranger)}\n`,
    );
    writeFileSync(join(place, 'other-root.json'), formatTrustedRoot([]));
    const { status, printed } = follow(place, before);
    t.not(status, 0, name);
    t.equal(printed.length, at, `${name}: it goes no further`);
  }
});

t.test('evidence that was changed, and a file that nobody listed', { skip }, async (t) => {
  if (sealed === undefined) return;
  const change = (edit: string) =>
    [
      'export GIT_INDEX_FILE=$PWD/index GIT_DIR=$PWD/origin.git',
      `REF=$(git for-each-ref --format='%(refname)' refs/ai/runs | head -n 1)`,
      'git read-tree "$REF"',
      edit,
      'git update-ref "$REF" "$(git -c user.name=E -c user.email=e@x commit-tree -m x "$(git write-tree)")"',
      'unset GIT_INDEX_FILE GIT_DIR',
    ].join('\n');
  const put = (path: string) =>
    `git update-index --add --cacheinfo "100644,$(echo '{}' | git hash-object -w --stdin),${path}"`;
  const edited = follow(makePlace('edited'), change(put('gate-report.json')));
  t.not(edited.status, 0);
  t.equal(edited.printed.length, recipes.findIndex(({ text }) => text.includes('sha256sum --check')) + 1);
  const added = follow(makePlace('added'), change(put('extra.json')));
  t.not(added.status, 0);
  t.equal(added.printed.length, recipes.findIndex(({ text }) => text.includes('cmp stored listed')) + 1);
});
