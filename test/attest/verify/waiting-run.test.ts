import t from 'tap';
import { verifyWaitingRun } from '../../../attest/attestor/attesting.ts';
import { signStatement, toUnloggedBundle } from '../../../attest/bundle/bundle.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { buildWaitingRun } from '../../../attest/statement/run-statements.ts';

const files = new Map([['journal.jsonl', Buffer.from('one\n')]]);
const signer = toSigner(generateKey('ecdsa-p256-sha256'), false);
const other = toSigner(generateKey('ed25519'), false);
const parties = { signer, log: undefined };
const bundle = toUnloggedBundle(await signStatement(buildWaitingRun('run-1', files), parties), parties);

t.test('`verifyWaitingRun` accepts files signed by a listed runner', async (t) => {
  t.ok(verifyWaitingRun(bundle, 'run-1', files, [other.publicKeyPem, signer.publicKeyPem]));
});

t.test('`verifyWaitingRun` refuses changed, additional or missing files', async (t) => {
  const keys = [signer.publicKeyPem];
  t.notOk(verifyWaitingRun(bundle, 'run-1', new Map([['journal.jsonl', Buffer.from('two\n')]]), keys));
  t.notOk(verifyWaitingRun(bundle, 'run-1', new Map([...files, ['more', Buffer.from('')]]), keys));
  t.notOk(verifyWaitingRun(bundle, 'run-1', new Map(), keys));
});

t.test('`verifyWaitingRun` refuses a signature made for another run', async (t) => {
  t.notOk(verifyWaitingRun(bundle, 'run-2', files, [signer.publicKeyPem]));
});

t.test('`verifyWaitingRun` refuses other keys, missing keys and malformed bundles', async (t) => {
  t.notOk(verifyWaitingRun(bundle, 'run-1', files, [other.publicKeyPem]));
  t.notOk(verifyWaitingRun(bundle, 'run-1', files, []));
  for (const text of ['', '{}', 'null', bundle.toString().replace('"payload":"eyJf', '"payload":"eyJg')])
    t.notOk(verifyWaitingRun(Buffer.from(text), 'run-1', files, [signer.publicKeyPem]), text);
  t.throws(() => verifyWaitingRun(bundle, 'run-1', files, ['no key']), { code: 'KEY_UNUSABLE' });
});
