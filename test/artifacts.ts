import './attest/artifacts/demo-repository.test.ts';
import './attest/artifacts/patchset.test.ts';
import './attest/artifacts/release-notes.test.ts';
import './attest/artifacts/sbom.test.ts';
import './attest/artifacts/sca-report.test.ts';
import './bin/commands/sca-import.test.ts';
import './core/advisories/compare-versions.test.ts';
import './core/advisories/cvss.test.ts';
import './core/advisories/import-advisories.test.ts';
import './core/advisories/judge-version.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
