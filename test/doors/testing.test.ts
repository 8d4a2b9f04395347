import { spawnSync } from 'node:child_process';
import t from 'tap';
import { long } from '../rooms/long.ts';
import { compiledPages } from './compiled-pages.ts';
import { runTo } from './packed-package.ts';

t.setTimeout(300_000);

const noBubblewrap =
  spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0
    ? false
    : 'needs bubblewrap';
/** What the tester of that kind answers each part of it. */
function answersOf(kind: string): Readonly<Record<string, string>> {
  const { directory } = compiledPages();
  const { out, err } = runTo(process.execPath, ['built/try-testers.js', kind], directory);
  if (out === '') throw new Error(err);
  return JSON.parse(out) as Readonly<Record<string, string>>;
}

/** What is wrong with each broken part, and the promise that its tester says is not kept. */
const promises = {
  signer: {
    'another form': 'a key is asked for by the name of its source',
    'repeats what was pasted': 'what is no key of it is refused in words that do not repeat it',
    'signs something else': 'its public key verifies what it signs, and nothing else',
    'mixes up what comes at once': 'signatures that are made at once are each of their own bytes',
    'another key id': 'its public key is one of its algorithm, and the key id is its SHA-256',
    'shows its key': 'nothing of it shows a private key',
    'thrown away': 'a key that is asked for is none that is thrown away',
    'a new key each time': 'opened again it is the same key',
    uncertified: 'a certificate binds the key of one run to an identity',
  },
  log: {
    'another mode': 'a new log is empty and bears its name',
    'two things to pin': 'a verifier has one thing to pin: a key or a trusted root',
    'a path to nowhere': 'an entry is proven to be in the log, and no other is',
    'a checkpoint of a stranger': 'a checkpoint that verifies says what the proof says',
    'an entry of its own': 'the entry that is proven is about what was handed in',
    'proves nothing of how it grew':
      'a log that proves how it grew proves it of any two sizes, and of no other tree',
    'proves what it has not':
      'a log that proves how it grew proves it of any two sizes, and of no other tree',
    forgets: 'entries follow one another, and stay when the log is opened again',
    'one place for two': 'entries that come at once are each there',
    'appends what is there': 'an entry that may have been appended before is there once',
    'keeps one': 'there is no log, however often it is opened',
  },
  sandbox: {
    'does not work': 'it says that it works here, and what it enforces',
    'works elsewhere': 'a command runs in its working directory, and its exit is reported',
    'hands on its environment': 'no variable of ours reaches a command',
    'keeps all output': 'output is bounded, and counted',
    'keeps no time': 'a time-out ends every descendant',
    'cannot be stopped': 'an abort ends every descendant',
    'shows everything': 'what is outside is not read',
    'changes everything': 'what is outside is not changed',
    'opens the hooks': 'what git runs by is not changed',
    'binds for writing': 'a bind that may not be written is only read',
    'has our network': 'nothing of this machine can be connected to',
  },
  store: {
    shortens: 'what was written is read back, byte for byte',
    overwrites: 'a write that expected another version changes nothing',
    neverRemoves: 'a ref that was removed is gone, the others stay, and its name is free',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
const sound = { signer: 'vault', log: 'memory', sandbox: 'wrapped', store: 'files' } as const;

for (const kind of ['signer', 'log', 'sandbox', 'store'] as const)
  (kind === 'signer' ? t.test.bind(t) : long)(
    `${kind}: a third-party part that keeps every promise passes, and each broken one is named by the promise that it breaks`,
    { skip: kind === 'sandbox' && noBubblewrap },
    async (t) => {
      const { [sound[kind]]: passed, ...refused } = answersOf(kind);
      t.equal(passed, 'passed');
      t.strictSame(Object.keys(refused).sort(), Object.keys(promises[kind]).sort());
      for (const [name, sentence] of Object.entries(promises[kind])) {
        const said = refused[name] ?? '';
        t.match(said, /^AssertionError: /, name);
        t.ok(said.includes(`case \`${sentence}\``), `${name}: ${said}`);
      }
    },
  );
