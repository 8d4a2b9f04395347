import t from 'tap';
import { readTokenClaims } from '../../../attest/signer/keyless-key.ts';

const token = (claims: object): string =>
  ['{}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
const said = { iss: 'https://issuer.example', sub: 'someone', exp: 1 };
const names = (more: object) => readTokenClaims(token({ ...said, ...more })).identities;

t.test('an ID token names its subject and the workflow or pipeline that it was issued for', async (t) => {
  t.strictSame(readTokenClaims(token(said)), {
    subject: 'someone',
    identities: ['someone'],
    issuers: ['https://issuer.example'],
    expiresAtMs: 1000,
  });
  const pipeline = 'gitlab.com/group/project//.gitlab-ci.yml@refs/heads/main';
  t.strictSame(names({ ci_config_ref_uri: pipeline }), ['someone', `https://${pipeline}`]);
  const workflow = 'owner/project/.github/workflows/release.yml@refs/heads/main';
  const issuer = 'https://token.actions.githubusercontent.com';
  t.strictSame(names({ iss: issuer, job_workflow_ref: workflow }), [
    'someone',
    `https://github.com/${workflow}`,
  ]);
  t.strictSame(names({ job_workflow_ref: workflow }), ['someone'], 'of another issuer it says nothing');
  t.strictSame(names({ ci_config_ref_uri: 'two words' }), ['someone'], 'what no certificate names');
});
