import { createHash } from 'node:crypto';
import t from 'tap';
import type { EvidenceSource } from '../../../attest/verify/evidence-source.ts';
import { findRunArtifacts, withUnknownArtifacts } from '../../../attest/verify/given-artifact.ts';
import type { VerifyReport } from '../../../attest/verify/report.ts';

const digest = (hash: string, text: string): string => createHash(hash).update(text).digest('hex');

/** A run of these files; what was read of it is told. */
function sourceOf(run: Readonly<Record<string, string>>, content: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const reader = (files: Readonly<Record<string, string>>) => async (path: string) => {
    asked.push(path);
    const text = files[path];
    return text === undefined || text === 'gone' ? undefined : Buffer.from(text);
  };
  const source = {
    listRun: async () => Object.keys(run),
    readRun: reader(run),
    listContent: async () => Object.keys(content),
    readContent: reader(content),
  } as unknown as EvidenceSource;
  return { source, asked };
}

t.test('an artifact with a SHA-256 digest is known without reading a file', async (t) => {
  const { source, asked } = sourceOf({ 'run.json': 'x' }, { 'patchset.diff': 'y' });
  t.strictSame(await findRunArtifacts(source, [{ name: 'a', sha256: 'ab' }]), { sha256: ['ab'], rest: [] });
  t.strictSame(asked, []);
});

t.test('an artifact with another digest is searched among the files and content of the run', async (t) => {
  const { source } = sourceOf({ 'run.json': 'x', lost: 'gone' }, { 'patchset.diff': 'y' });
  const artifacts = [
    { name: 'a', sha512: digest('sha512', 'y') },
    { name: 'b', sha384: digest('sha384', 'x') },
    { name: 'c', sha512: digest('sha512', 'z') },
    { name: 'd', sha256: 'ab', sha512: digest('sha512', 'z') },
  ];
  const found = await findRunArtifacts(source, artifacts);
  t.strictSame([...found.sha256].sort(), ['ab', digest('sha256', 'x'), digest('sha256', 'y')].sort());
  t.strictSame(found.rest, [artifacts[2]]);
});

t.test('an artifact unknown to the run is missing, and the report is not verified', async (t) => {
  const report = { verified: true, checks: [], expected: 2 } as unknown as VerifyReport;
  t.equal(withUnknownArtifacts(report, []), report);
  t.match(withUnknownArtifacts(report, [{ name: 'c', sha512: 'cd', sha384: 'ef' }]), {
    verified: false,
    expected: 3,
    checks: [{ id: 'artifact:sha384:ef sha512:cd', status: 'missing', code: 'missing' }],
  });
});
