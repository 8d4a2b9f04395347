import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { parseVkey } from '../../../attest/log/note.ts';
import { formatTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { withoutOpenssl } from '../../attest/material/openssl.ts';
import { isLong, long } from '../../rooms/long.ts';
import { makeSealedRepository } from './sealed-repository.ts';

/** A run in a sandbox, an approval and its seal on a busy machine. */
t.setTimeout(400_000);
const page = readFileSync(new URL('../../../docs/guides/consuming.md', import.meta.url), 'utf8');
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
const sealed = isLong && !without ? await makeSealedRepository(root) : undefined;
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

const mark = '=== next recipe ===';
/** What a shell knows behind the recipes it ran, for those that are tried by themselves. */
const keepState = '{ declare -p COMMIT RUN TREE PATCH BASE NEEDED; declare -f; } > state.sh';

interface Followed {
  readonly status: number | null;
  readonly printed: readonly string[];
  readonly err: string;
}

function shell(place: string, script: string): Followed {
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: place,
    env: { ...sealed?.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` },
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, printed: stdout.split(`${mark}\n`).slice(1), err: stderr };
}

/** Runs every recipe of the page in one shell; gives what each printed, the last one being that at which it stopped. */
function follow(place: string, before = '', after = ''): Followed {
  return shell(place, [before, ...recipes.map(({ text }) => `echo '${mark}'\n${text}`), after].join('\n'));
}

/** Which recipe has a word in it, from 1. */
const index = (word: string): number => recipes.findIndex(({ text }) => text.includes(word)) + 1;

/** `…` on a line stands for anything on it, alone for any number of lines. */
function formOf(expected: string): RegExp {
  const lines = expected.trimEnd().split('\n');
  const quoted = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*');
  return new RegExp(
    `^${lines.map((line) => (line === '…' ? '(?:.*\\n)*?' : `${quoted(line)}\\n`)).join('')}$`,
  );
}

long(
  'every recipe of docs/guides/consuming.md prints what the page says, without using writ',
  { skip },
  async (t) => {
    const { status, printed, err } = follow(makePlace('good'), '', keepState);
    t.equal(status, 0, err);
    t.equal(printed.length, recipes.length);
    t.ok(recipes.length >= 8);
    for (const [n, { text, expected }] of recipes.entries())
      if (expected !== undefined) t.match(printed[n], formOf(expected), text.slice(0, 200));
  },
);

long('a changed input fails at the recipe that checks it', { skip }, async (t) => {
  if (sealed === undefined) return;
  const amended = `git clone -q origin.git amend && cd amend && git -c user.name=E -c user.email=e@x commit -q --amend --no-edit --date=2020-01-01T00:00:00Z && git push -q --force origin HEAD:main && cd .. && rm -rf amend`;
  // Other bytes under the name of a file's object: loose, so that git finds it by that name.
  const wrongBytes = [
    'FILE=$(git -C origin.git rev-parse main:a.txt) && git -C origin.git repack -qad && mkdir packs',
    'mv origin.git/objects/pack/* packs/',
    'for PACK in packs/*.pack; do git -C origin.git unpack-objects -q < "$PACK"; done',
    'OTHER=$(echo evil | git -C origin.git hash-object -w --stdin) && cd origin.git/objects',
    'path() { sed "s,^..,&/," <<< "$1"; }',
    'rm -f "$(path "$FILE")" && cp "$(path "$OTHER")" "$(path "$FILE")" && cd ../..',
  ].join('\n');
  const recorded = (what: 'runs' | 'content', edit: string) =>
    [
      'export GIT_INDEX_FILE=$PWD/index GIT_DIR=$PWD/origin.git',
      `REF=$(git for-each-ref --format='%(refname)' refs/ai/${what} | head -n 1)`,
      'git read-tree "$REF"',
      edit,
      'git update-ref "$REF" "$(git -c user.name=E -c user.email=e@x commit-tree -m x "$(git write-tree)")"',
      'unset GIT_INDEX_FILE GIT_DIR',
    ].join('\n');
  const put = (mode: string, path: string) =>
    `git update-index --add --cacheinfo "${mode},$(echo /tmp | git hash-object -w --stdin),${path}"`;
  const linked = recorded('runs', put('120000', 'artifacts'));
  const unlisted = recorded('content', put('100644', 'artifacts/extra.txt'));
  const cases: Record<string, { readonly before: string; readonly at: number }> = {
    'another key': {
      before:
        'openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -out signer.pem 2>/dev/null',
      at: index('openssl dgst'),
    },
    'another commit with the same trailers': { before: amended, at: index('hash-object') },
    'a file of other bytes than its id names': { before: wrongBytes, at: 1 },
    'a commit that names two runs': {
      before: `git clone -q origin.git two && cd two && git -c user.name=E -c user.email=e@x commit -q --amend --no-edit --trailer Run-Id=../x && git push -q --force origin HEAD:main && cd .. && rm -rf two`,
      at: 1,
    },
    'a link in the record': { before: linked, at: index('tar -x') },
    'content that nobody signed for': { before: unlisted, at: index('comm -23') },
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

long('changed evidence and an unlisted file fail at the recipes that check them', { skip }, async (t) => {
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

long('a forged statement or approval fails at the recipe that reads it', { skip }, async (t) => {
  const good = join(root, 'good');
  if (!existsSync(join(good, 'state.sh'))) throw new Error('the page was not followed to its end');
  /** One recipe by itself, after all of them went well and something was changed. */
  const alone = (word: string, before: string): Followed => {
    const place = join(root, 'alone');
    rmSync(place, { recursive: true, force: true });
    cpSync(good, place, { recursive: true, verbatimSymlinks: true });
    return shell(place, `. ./state.sh\n${before}\necho '${mark}'\n${recipes[index(word) - 1]?.text ?? ''}`);
  };
  const edit = (change: string) =>
    `node -e 'const p = JSON.parse(fs.readFileSync("payload.json")); ${change}; fs.writeFileSync("payload.json", JSON.stringify(p))'`;
  const provenance = 'open_bundle evidence/provenance.sigstore.json';
  t.equal(alone('same "$(subject tree)"', provenance).status, 0);
  for (const [what, change] of [
    ['of another type', 'p.predicateType = "https://in-toto.io/attestation/test-result/v0.1"'],
    ['about another run', 'p.predicate.runDetails.metadata.invocationId = "r"'],
    ['about no tree', 'p.subject = p.subject.filter(({ name }) => name !== "tree")'],
    ['about no patch, of a record without one', 'p.subject.pop(); fs.rmSync("evidence/patchset.diff")'],
  ] as const)
    t.not(alone('same "$(subject tree)"', `${provenance}\n${edit(change)}`).status, 0, what);

  const [ana, stranger] = [join(root, 'ana'), join(root, 'stranger')];
  /** Signs what an approval becomes by a change of it, as `name` in the record. */
  const approve = (key: string, change: string, name = '0001') =>
    [
      'FIRST=$(find evidence/approvals -name "[0-9]*.json" | head -n 1)',
      `node -e 'const s = JSON.parse(Buffer.from(JSON.parse(fs.readFileSync(process.argv[1])).statement, "base64")); const p = s.predicate; ${change}; fs.writeFileSync("made", JSON.stringify(s))' "$FIRST"`,
      `ssh-keygen -q -Y sign -f ${key} -n writ-approval@v1 made 2> made.log`,
      `node -e 'fs.writeFileSync(process.argv[1], JSON.stringify({ statement: fs.readFileSync("made").toString("base64"), signature: fs.readFileSync("made.sig", "utf8") }))' "${name === '0001' ? '$FIRST' : `evidence/approvals/${name}.json`}"`,
      'rm -f made made.sig',
    ].join('\n');
  const needing = (count: number) =>
    `node -e 'const e = JSON.parse(fs.readFileSync("evidence/effective.json")); e.risk.humanInLoop.minApprovers = ${count}; fs.writeFileSync("evidence/effective.json", JSON.stringify(e))'`;
  const refused: Readonly<Record<string, string>> = {
    'a rejection': approve(ana, 'p.decision = "reject"'),
    'a rejection beside an approval': approve(ana, 'p.decision = "reject"', '2'),
    'about another run': approve(ana, 'p.runId = "other"'),
    'about another patch': approve(ana, 's.subject[1].digest.sha256 = "0".repeat(64)'),
    'about another contract': approve(ana, 's.subject[2].digest.sha256 = "0".repeat(64)'),
    'about another base': approve(ana, 'p.baseCommit = "0".repeat(40)'),
    'about another tree': approve(ana, 's.subject[0].digest.gitTree = "0".repeat(40)'),
    'by the process itself': approve(ana, 'p.inProcess = true'),
    'by a stranger': approve(stranger, ''),
    'none at all': 'rm -r evidence/approvals',
    'one person twice where two are needed': `${needing(2)}\n${approve(ana, 'p.nonce += "x"', '2')}`,
    'with another signature': `sed -i 's/"statement":"./"statement":"f/' evidence/approvals/[0-9]*.json`,
  };
  for (const [what, before] of Object.entries(refused)) {
    const { status, printed, err } = alone('find-principals', before);
    t.not(status, 0, what);
    t.equal(printed.length, 1, `${what}: it is this recipe that stops ${err}`);
    t.notMatch(printed[0], /needed/, what);
  }
  const more = alone('find-principals', approve(stranger, '', '2'));
  t.equal(more.status, 0, `somebody unknown beside who is known takes nothing away: ${more.err}`);
  t.match(more.printed[0], /by nobody in people[\s\S]*1 approved, 1 needed/);
});
