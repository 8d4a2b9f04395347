import { readFileSync } from 'node:fs';
import t from 'tap';
import type { ScanFormat } from '../../../core/interfaces/scanner.ts';
import { readScan } from '../../../gates/scanner/read-scan.ts';

const recorded = new URL('../../../fixtures/scanners/recorded/', import.meta.url);
const read = (file: string, format: ScanFormat) => {
  const scan = readScan(format, readFileSync(new URL(file, recorded)));
  if ('found' in scan) throw new Error(scan.found);
  return scan;
};

/** The tool, and each result as `level rule place`. */
const reports: readonly (readonly [file: string, format: ScanFormat, tool: string, ...results: string[]])[] =
  [
    [
      'semgrep.sarif',
      'sarif',
      'Semgrep OSS 1.150.0',
      'error javascript.lang.security.audit.eval-detected src/run.js:3',
    ],
    ['semgrep-timeout.sarif', 'sarif', 'Semgrep OSS 1.150.0'],
    ['codeql.sarif', 'sarif', 'CodeQL 2.24.0', 'error js/code-injection src/run.js:3'],
    ['trivy.sarif', 'sarif', 'Trivy 0.68.1', 'error CVE-2021-23337 package-lock.json:1'],
    ['gitleaks.sarif', 'sarif', 'gitleaks v8.0.0', 'warning generic-api-key config/app.ini:2'],
    ['gosec.sarif', 'sarif', 'gosec 2.22.0', 'error G204 cmd/run.go:12'],
    ['bandit.sarif', 'sarif', 'Bandit 1.9.2', 'warning B307 app/run.py:4'],
    [
      'grype.json',
      'cyclonedx-vdr',
      'grype 0.104.0',
      'error GHSA-35jh-r3h4-6jhm pkg:npm/lodash',
      'warning GHSA-aaaa-bbbb-cccc pkg:npm/%40acme/tool',
      'error GHSA-dddd-eeee-ffff pkg:npm/%40acme/tool',
    ],
    [
      'osv-scanner.json',
      'osv',
      'undefined undefined',
      'error GHSA-35jh-r3h4-6jhm npm/lodash',
      'warning GHSA-29mw-wpgm-hmr9 npm/lodash',
    ],
  ];

t.test('reads recorded reports of third-party scanners', async (t) => {
  for (const [file, format, tool, ...expected] of reports) {
    const scan = read(file, format);
    t.equal(`${scan.tool} ${scan.version}`, tool, file);
    const found = scan.results.map(
      ({ level, rule, path, line, about }) => `${level} ${rule} ${about ?? `${path}:${line}`}`,
    );
    t.strictSame(found, expected, file);
    t.equal(scan.unfinished.length, file === 'semgrep-timeout.sarif' ? 1 : 0, file);
  }
});

t.test('answers what a report is instead of its format', async (t) => {
  const wrong: readonly (readonly [ScanFormat, unknown, RegExp])[] = [
    ['sarif', { version: '2.1.0', runs: [] }, /no run of a tool/],
    ['sarif', { version: '2.0.0', runs: [] }, /version/],
    ['cyclonedx-vdr', { bomFormat: 'CycloneDX', specVersion: '1.6' }, /no list `vulnerabilities`/],
    [
      'cyclonedx-vdr',
      { bomFormat: 'CycloneDX', specVersion: '1.6', vulnerabilities: [{}] },
      /`id` at `vulnerabilities\[0\]`/,
    ],
    ['osv', {}, /no list `results`/],
    ['osv', { results: [{}] }, /no list `packages`/],
    ['osv', { results: [{ packages: [{ package: {} }] }] }, /without `name`/],
  ];
  for (const [format, value, found] of wrong)
    t.match(readScan(format, Buffer.from(JSON.stringify(value))), { found }, String(found));
  t.match(readScan('osv', Buffer.from('{')), { found: /JSON/ });
});
