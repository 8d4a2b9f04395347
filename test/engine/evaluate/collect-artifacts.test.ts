import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { SandboxResult } from '../../../core/interfaces/sandbox.ts';
import { collectArtifacts } from '../../../engine/evaluate/artifacts.ts';
import { readReports } from '../../../engine/evaluate/read-reports.ts';
import type { ArriveRequest, ArtifactCollector } from '../../../engine/state/evidence.ts';
import { check } from '../../gates/rules/stage-case.ts';

/** What a check that produces `names` delivered by what it left in its reports directory. */
async function collected(
  t: Test,
  names: readonly string[],
  leave: (place: string) => void,
  result?: SandboxResult,
) {
  const place = t.testdir({});
  leave(place);
  const arrived: ArriveRequest[] = [];
  const box = {
    add: async (request: ArriveRequest) => {
      arrived.push(request);
      return { ...request, path: '', sha256: '', sizeBytes: 0 };
    },
  } as unknown as ArtifactCollector;
  const read = await readReports(place, 0n);
  const outcome = { findings: [], reports: read.files, ...(result ? { result } : {}) };
  const { findings } = await collectArtifacts(
    box,
    'security',
    check({ artifactsProduced: [...names], command: 'make\n  all' }),
    outcome,
  );
  t.ok(
    findings.every(({ severity }) => severity === 'error'),
    'what is not taken fails the check',
  );
  return {
    taken: arrived.map(({ name, extension, bytes }) => [name, extension, Buffer.from(bytes).toString()]),
    codes: [...read.findings, ...findings].map(({ detail }) => detail?.code),
  };
}

t.test('a report file is collected by its exact name, once per extension', async (t) => {
  const found = await collected(t, ['sbom'], (place) => {
    writeFileSync(join(place, 'sbom.json'), 'one');
    writeFileSync(join(place, 'sbom.xml'), 'two');
    writeFileSync(join(place, 'sbom.old.json'), 'other');
  });
  t.strictSame(found, {
    taken: [
      ['sbom', 'json', 'one'],
      ['sbom', 'xml', 'two'],
    ],
    codes: [],
  });
});

t.test('two report files that map to one artifact are refused with ARTIFACT_AMBIGUOUS', async (t) => {
  for (const other of ['sbom.JSON', 'sbom.Json']) {
    const { codes } = await collected(t, ['sbom'], (place) => {
      writeFileSync(join(place, 'sbom.json'), 'good');
      writeFileSync(join(place, other), 'bad');
    });
    t.strictSame(codes, ['ARTIFACT_AMBIGUOUS'], other);
  }
  const bare = await collected(t, ['sbom'], (place) => {
    writeFileSync(join(place, 'sbom'), 'one');
    writeFileSync(join(place, 'sbom.'), 'two');
  });
  t.strictSame(bare.codes, ['ARTIFACT_AMBIGUOUS']);
});

t.test('only a regular file with the exact artifact name is collected', async (t) => {
  const hostile: Readonly<Record<string, (place: string) => void>> = {
    'a symbolic link': (place) => symlinkSync('/etc/passwd', join(place, 'sbom.json')),
    'a pipe': (place) => execFileSync('mkfifo', [join(place, 'sbom.json')]),
    'a directory': (place) => mkdirSync(join(place, 'sbom.json')),
    'a name in other letters': (place) => writeFileSync(join(place, 'SBOM.json'), 'x'),
    'a name that leads out': (place) => writeFileSync(join(place, '..sbom.json'), 'x'),
    'a line end in the name': (place) => writeFileSync(join(place, 'sbom\n.json'), 'x'),
    'a name that looks alike': (place) => writeFileSync(join(place, 'sb\u043em.json'), 'x'),
    'a file below': (place) => {
      mkdirSync(join(place, 'deep'));
      writeFileSync(join(place, 'deep/sbom.json'), 'x');
    },
  };
  for (const [what, leave] of Object.entries(hostile))
    t.strictSame(await collected(t, ['sbom'], leave), { taken: [], codes: [] }, what);
});

t.test('a sparse file above the size limit is refused as REPORT_UNREADABLE', async (t) => {
  const found = await collected(t, ['sbom'], (place) => {
    writeFileSync(join(place, 'sbom.json'), '');
    truncateSync(join(place, 'sbom.json'), 2 * 1024 ** 3);
  });
  t.strictSame(found, { taken: [], codes: ['REPORT_UNREADABLE'] });
});

t.test('a check cannot deliver an artifact that is reserved for the engine', async (t) => {
  for (const name of ['patchset', 'provenance-attestation', 'transparency-proof'] as const) {
    const forged = await collected(t, [name], (place) => writeFileSync(join(place, `${name}.json`), 'x'));
    t.strictSame(forged, { taken: [], codes: ['ARTIFACT_RESERVED'] }, name);
    t.strictSame(
      await collected(t, [name], () => {}),
      { taken: [], codes: [] },
      `${name}, left to the engine`,
    );
  }
});

t.test('a captured log begins with the command and its end, and a report file replaces it', async (t) => {
  const output = { bytes: Buffer.from('built\n'), totalBytes: 6, truncated: false };
  const result = { exitCode: 0, timedOut: false, combined: output } as unknown as SandboxResult;
  const logOf = async (ended: object, leave: (place: string) => void = () => undefined) =>
    (await collected(t, ['build-log'], leave, { ...result, ...ended })).taken;
  t.strictSame(await logOf({}), [['build-log', 'log', '# make all (exit code 0)\nbuilt\n']]);
  const killed = { exitCode: undefined, signal: 'SIGKILL', timedOut: true };
  t.match(await logOf(killed), [['build-log', 'log', /^# make all \(timed out, ended by SIGKILL\)\n/]]);
  const own = await logOf({}, (place) => writeFileSync(join(place, 'build-log.txt'), 'own'));
  t.strictSame(own, [['build-log', 'txt', 'own']]);
});
