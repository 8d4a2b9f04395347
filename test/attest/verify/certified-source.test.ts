import t from 'tap';
import { readCertifiedSource } from '../../../attest/verify/certificate-claims.ts';
import { believing, makeFoundry } from '../material/foundry.ts';
import { anchorsOf, bundleBy, type Loose, statement, verifyStranger } from './strangers.ts';

const foundry = await makeFoundry();
const repository = 'https://github.com/example/app';
const ref = 'refs/tags/v1.0.0';
const digest = 'a'.repeat(40);
const extensions = { 12: repository, 13: digest, 14: ref };

const provenance = (definition: Loose): Loose =>
  statement({
    predicate: {
      buildDefinition: {
        buildType: 'https://example.org/build',
        externalParameters: {},
        resolvedDependencies: [],
        ...definition,
      },
      runDetails: { builder: { id: 'https://example.org/builder' } },
    },
  });

async function checked(
  payload: Loose,
  source: Loose = {},
  made: Loose = { extensions },
  options: Loose = {},
) {
  const bundle = await foundry.make({ payload, ...made });
  const report = await verifyStranger(bundle, { source, ...options }, believing(foundry.root));
  const words = report.checks
    .filter(({ id }) => id.startsWith('source-'))
    .map(({ id, status, code }) => [id, status, code].filter(Boolean).join(' '));
  return { verified: report.verified, words, report };
}

t.test('repository, commit and ref are read from the certificate and shown', async (t) => {
  const { verified, report } = await checked(provenance({}));
  t.equal(verified, true);
  t.match(
    report.checks.find(({ id }) => id === 'source-repository'),
    {
      status: 'passed',
      detail: { repository, digest, ref },
    },
  );
  const { der } = await foundry.issue(undefined, undefined, extensions);
  t.strictSame(readCertifiedSource(der), { repository, digest, ref });
  t.strictSame(readCertifiedSource(Buffer.from('no certificate')), {});
});

t.test('a demanded repository and ref must be those of the certificate', async (t) => {
  const demand = async (source: Loose, made?: Loose) => (await checked(provenance({}), source, made)).words;
  t.same(await demand({ repository, ref }), ['source-repository passed', 'source-ref passed']);
  t.same(await demand({ ref: 'refs/tags/v1' }), ['source-repository passed', 'source-ref failed mismatch']);
  t.same(await demand({ repository: `${repository}.git` }), ['source-repository failed mismatch']);
  t.same(await demand({}, {}), [], 'a certificate without source is not asked for one');
  t.same(await demand({ repository, ref }, {}), [
    'source-repository missing missing',
    'source-ref missing missing',
  ]);
});

t.test('a signature by a key names no source', async (t) => {
  const report = await verifyStranger(bundleBy(statement()), { source: { repository } }, anchorsOf());
  t.equal(report.verified, false);
  t.match(
    report.checks.find(({ id }) => id === 'source-repository'),
    { status: 'missing', code: 'missing', detail: { expected: repository } },
  );
});

t.test('a predicate that names another repository than the certificate is refused', async (t) => {
  const v02 = (uri: string): Loose =>
    statement({
      predicateType: 'https://slsa.dev/provenance/v0.2',
      predicate: {
        builder: { id: 'https://example.org/builder' },
        buildType: 'https://example.org/build/v1',
        invocation: { configSource: { uri } },
      },
    });
  const parameters = (externalParameters: Loose): Loose => provenance({ externalParameters });
  const same: Record<string, Loose> = {
    workflow: parameters({ workflow: { repository, ref, path: '.github/workflows/release.yml' } }),
    'source as URI': parameters({ source: `git+${repository}@${ref}` }),
    'source as resource': parameters({ source: { uri: `git+${repository}.git@${ref}` } }),
    'source on the same host': parameters({ source: repository }),
    'source that is a file elsewhere': parameters({ source: 'https://files.example.org/app.tgz' }),
    'source of another kind': parameters({ source: 7, workflow: ['x'] }),
    'SLSA 0.2': v02(`git+${repository}@${ref}`),
  };
  const types = ['https://slsa.dev/provenance/v1', 'https://slsa.dev/provenance/v0.2'];
  for (const [name, payload] of Object.entries(same))
    t.equal((await checked(payload, {}, { extensions }, { types })).verified, true, name);
  const other = 'https://github.com/example/other';
  const different: Record<string, Loose> = {
    workflow: parameters({ workflow: { repository: other } }),
    'workflow on another host': parameters({ workflow: { repository: 'https://gitlab.com/example/app' } }),
    'workflow beside the right source': parameters({ source: repository, workflow: { repository: other } }),
    'source as URI': parameters({ source: `git+${other}@${ref}` }),
    'source on another host': parameters({ source: { uri: 'git+https://gitlab.com/example/app' } }),
    'source on the same host': parameters({ source: other }),
    'a repository whose name begins alike': parameters({ source: `git+${repository}2@${ref}` }),
    'SLSA 0.2': v02(`git+${other}@${ref}`),
  };
  for (const [name, payload] of Object.entries(different)) {
    const { verified, words } = await checked(payload, {}, { extensions }, { types });
    t.equal(verified, false, name);
    t.same(words, ['source-repository failed mismatch'], name);
  }
});
