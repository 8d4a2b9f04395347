import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseAllowedSigners, parseSignerTime } from '../../../attest/approval/allowed-signers.ts';
import { findSigner, fitsPatternList, literalsOf } from '../../../attest/approval/read-approvals.ts';
import { approvalNamespace } from '../../../attest/approval/sshsig.ts';
import { makeKey, publicOf, sshSign, sshVerify, withoutSshKeygen } from './ssh-tools.ts';

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl4';
const read = (text: string) => parseAllowedSigners(Buffer.from(text));
const reasonOf = (text: string) => read(text).skipped[0]?.reason;

t.test('reads lines with comments, quotes and CRLF line ends', async (t) => {
  const text = `# people\r\n\r\nana@x ${key} her laptop\r\n\t"ben@x,*@y z"  namespaces="a,b",VALID-BEFORE="20300101Z" ${key}\n  # end`;
  const { signers, skipped } = read(text);
  t.strictSame(skipped, []);
  t.match(signers, [
    { line: 3, principals: 'ana@x' },
    { line: 4, principals: 'ben@x,*@y z', namespaces: 'a,b', validBeforeMs: Date.UTC(2030, 0, 1) },
  ]);
  t.equal(signers.length, 2);
  t.match(signers[0]?.fingerprint, /^SHA256:[A-Za-z0-9+/]{43}$/);
  t.equal(signers[0]?.validBeforeMs, undefined);
});

t.test('a line that cannot be parsed adds no signer', async (t) => {
  const bad: Readonly<Record<string, string>> = {
    'certificate authorities': `ana cert-authority ${key}`,
    'unknown option': `ana verify-required ${key}`,
    'given twice': `ana namespaces="a",namespaces="b" ${key}`,
    'double quotes': `ana namespaces ${key}`,
    'options that': `ana namespaces=a ${key}`,
    'cannot be read': `ana namespaces="a", ${key}`,
    'is no time': `ana valid-after="20260230Z" ${key}`,
    'is not after': `ana valid-after="20260102Z",valid-before="20260101Z" ${key}`,
    'control characters': `ana ${key.replace('AAAA', 'AAAA\0')}`,
    'its key is': `ana ${key.replace('ssh-ed25519 ', 'ssh-rsa ')}`,
    'expected principals': key.split(' ')[1] ?? '',
    base64: `ana ${key}!`,
    'expected a usable SSH key': `ana ssh-dss ${Buffer.from('\0\0\0\x07ssh-dss').toString('base64')}`,
    characters: `ana ${key} ${'x'.repeat(20_000)}`,
  };
  for (const [reason, line] of Object.entries(bad)) {
    const { signers, skipped } = read(`${line}\nben ${key}\n`);
    t.match(skipped, [{ line: 1, reason: new RegExp(reason) }], reason);
    t.match(signers, [{ line: 2, principals: 'ben' }], `${reason}: the next line holds`);
  }
  t.match(reasonOf(`"ana ${key}`), /expected principals/, 'an open quote');
  t.match(reasonOf(`ana "valid-after ${key}`), /./);
  t.match(reasonOf(`\ufeffana ${key}`), /control characters/, 'a byte order mark');
});

t.test('a file that is missing, too large or not text has no signers', async (t) => {
  const line = Buffer.from(`ana ${key}\n`);
  t.strictSame(parseAllowedSigners(undefined), {
    signers: [],
    skipped: [{ line: 0, reason: 'there is no such file' }],
  });
  t.strictSame(parseAllowedSigners(Buffer.concat([line, Buffer.alloc(1024 * 1024, '#')])), {
    signers: [],
    skipped: [{ line: 0, reason: 'it has more than 1048576 octets' }],
  });
  t.strictSame(parseAllowedSigners(Buffer.concat([line, Buffer.from([0xff])])).signers, []);
  t.equal(parseAllowedSigners(line).signers.length, 1);
});

t.test('times are parsed as ssh-keygen(1) documents them', async (t) => {
  t.equal(parseSignerTime('20260102Z'), Date.UTC(2026, 0, 2));
  t.equal(parseSignerTime('202601020304z'), Date.UTC(2026, 0, 2, 3, 4));
  t.equal(parseSignerTime('20260102030405Z'), Date.UTC(2026, 0, 2, 3, 4, 5));
  t.equal(parseSignerTime('20260102030405'), new Date(2026, 0, 2, 3, 4, 5).getTime(), 'local time');
  for (const bad of [
    '',
    '2026',
    '20260229Z',
    '20261301Z',
    '202601022500Z',
    '20260102030460Z',
    '20260102T',
    '19700101Z',
  ])
    t.equal(parseSignerTime(bad), undefined, bad);
});

t.test('pattern lists match as in ssh', async (t) => {
  for (const [text, list] of [
    ['ana@x', 'ana@x'],
    ['ana@x', 'ben@x,*@x'],
    ['ana@x', 'a?a@x'],
    ['', '*'],
    ['aab', '*a*b'],
    ['ana@x', '!ben@x,*@x'],
  ] as const)
    t.ok(fitsPatternList(text, list), `${text} ${list}`);
  for (const [text, list] of [
    ['ana@x', 'ANA@x'],
    ['ana@x', '*@y'],
    ['ana@x', '!ana@x,*@x'],
    ['ana@x', '*@x,!a*'],
    ['ana@x', '!ben@x'],
    ['ana@x', ''],
    ['ana@x', 'ana@x?'],
    ['ana@xy', 'ana@x'],
  ] as const)
    t.notOk(fitsPatternList(text, list), `${text} ${list}`);
  t.strictSame(literalsOf('ana@x,*@y,!ben,b?n,,cleo'), ['ana@x', 'cleo']);
  t.notOk(fitsPatternList('a'.repeat(256), `${'*a'.repeat(1000)}b`));
});

t.test('a key counts only for the principals that its lines name', async (t) => {
  const at = Date.UTC(2026, 5, 1);
  const find = (text: string, claimed?: string, when = at) => {
    const allowed = read(text);
    const fingerprint = read(`x ${key}`).signers[0]?.fingerprint ?? '';
    const { principal, problem } = findSigner(allowed, fingerprint, claimed, when);
    return problem?.status ?? principal;
  };
  t.equal(find(`ana@x,ana@y ${key}`), 'ana@x', 'the first literal');
  t.equal(find(`ana@x,ana@y ${key}`, 'ana@y'), 'ana@y');
  t.equal(find(`ana@x ${key}`, 'ben@x'), 'untrusted-signer');
  t.equal(find(`*@x ${key}`), 'untrusted-signer', 'a pattern is nobody');
  t.equal(find(`*@x ${key}`, 'ana@x'), 'ana@x');
  t.equal(find(`*@x,!ana@x ${key}`, 'ana@x'), 'untrusted-signer');
  t.equal(find(`ana@x namespaces="${approvalNamespace}" ${key}`), 'ana@x');
  t.equal(find(`ana@x namespaces="git" ${key}`), 'untrusted-signer');
  t.equal(find(`ana@x namespaces="!writ-*,*" ${key}`), 'untrusted-signer');
  t.equal(find(`ana@x valid-after="20260602Z" ${key}`), 'not-yet-valid');
  t.equal(find(`ana@x valid-before="20260531Z" ${key}`), 'expired');
  t.equal(
    find(`ana@x valid-after="20260601Z",valid-before="20260602Z" ${key}`),
    'ana@x',
    'from its first instant',
  );
  t.equal(find(`ana@x valid-before="20260601Z" ${key}`), 'ana@x', 'up to its last');
  t.equal(find(`ana@x valid-before="20260601Z" ${key}`, undefined, at + 1), 'expired');
  t.equal(
    find(`ana@x valid-before="20200101Z" ${key}\nana@x ${key}`),
    'ana@x',
    'one line that holds is enough',
  );
  t.equal(find('# nobody'), 'untrusted-signer');
  t.equal(find(`ana@x cert-authority ${key}`), 'untrusted-signer');
});

t.test('`findSigner` and ssh-keygen agree on who may sign', { skip: withoutSshKeygen }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-signers-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const file = makeKey(dir, 'ana');
  const mine = publicOf(file);
  const message = Buffer.from('x');
  const signature = sshSign(file, message, approvalNamespace);
  const fingerprint = read(`x ${mine}`).signers[0]?.fingerprint ?? '';
  const at = '20260601120000Z';
  const atMs = Date.UTC(2026, 5, 1, 12);
  const cases: readonly (readonly [line: string, claimed: string, allowed: boolean])[] = [
    [`ana@x ${mine}`, 'ana@x', true],
    [`ana@x ${mine}`, 'ben@x', false],
    [`ana@x,ben@x ${mine}`, 'ben@x', true],
    [`"ana@x,ana y" ${mine}`, 'ana y', true],
    [`*@x ${mine}`, 'ana@x', true],
    [`*@x,!ana@x ${mine}`, 'ana@x', false],
    [`a?a@x ${mine}`, 'ana@x', true],
    [`ana@x namespaces="git,writ-*" ${mine}`, 'ana@x', true],
    [`ana@x namespaces="git" ${mine}`, 'ana@x', false],
    [`ana@x valid-before="20260601115959Z" ${mine}`, 'ana@x', false],
    [`ana@x valid-before="20260601120000Z" ${mine}`, 'ana@x', true],
    [`ana@x valid-after="20260601120000Z" ${mine}`, 'ana@x', true],
    [`ana@x valid-after="20260601120001Z" ${mine}`, 'ana@x', false],
    [`ana@x valid-after="20260601",valid-before="20260603" ${mine}`, 'ana@x', true],
    [`ana@x valid-before="20260531" ${mine}`, 'ana@x', false],
    [`ana@x valid-before="nonsense" ${mine}`, 'ana@x', false],
    [`ana@x cert-authority ${mine}`, 'ana@x', false],
    [`ana@x unknown-option ${mine}`, 'ana@x', false],
    [`ana@x ${key}`, 'ana@x', false],
    [`# ana@x ${mine}`, 'ana@x', false],
  ];
  for (const [line, claimed, allowed] of cases) {
    const { problem } = findSigner(read(`${line}\n`), fingerprint, claimed, atMs);
    t.equal(problem === undefined, allowed, `${line.replace(mine, 'KEY')} as ${claimed}`);
    const oracle = sshVerify(dir, {
      allowed: `${line}\n`,
      principal: claimed,
      namespace: approvalNamespace,
      signature,
      message,
      at,
    });
    t.equal(oracle, allowed, `${line.replace(mine, 'KEY')} as ${claimed}, ssh-keygen`);
  }
});
