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
  t.equal(verifyWaitingRun(bundle, 'run-1', files, [other.publicKeyPem, signer.publicKeyPem]), 'these');
});

t.test('`verifyWaitingRun` refuses changed, additional or missing files', async (t) => {
  const keys = [signer.publicKeyPem];
  t.equal(
    verifyWaitingRun(bundle, 'run-1', new Map([['journal.jsonl', Buffer.from('two\n')]]), keys),
    'others',
  );
  t.equal(verifyWaitingRun(bundle, 'run-1', new Map([...files, ['more', Buffer.from('')]]), keys), 'others');
  t.equal(verifyWaitingRun(bundle, 'run-1', new Map(), keys), 'others');
});

t.test('`verifyWaitingRun` refuses a signature made for another run', async (t) => {
  t.equal(verifyWaitingRun(bundle, 'run-2', files, [signer.publicKeyPem]), undefined);
});

t.test('`verifyWaitingRun` refuses other keys, missing keys and malformed bundles', async (t) => {
  t.equal(verifyWaitingRun(bundle, 'run-1', files, [other.publicKeyPem]), undefined);
  t.equal(verifyWaitingRun(bundle, 'run-1', files, []), undefined);
  for (const text of ['', '{}', 'null', bundle.toString().replace('"payload":"eyJf', '"payload":"eyJg')])
    t.equal(verifyWaitingRun(Buffer.from(text), 'run-1', files, [signer.publicKeyPem]), undefined, text);
  t.throws(() => verifyWaitingRun(bundle, 'run-1', files, ['no key']), { code: 'KEY_UNUSABLE' });
});
