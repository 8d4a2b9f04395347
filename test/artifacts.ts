import './attest/artifacts/demo-repository.test.ts';
import './attest/artifacts/patchset.test.ts';
import './attest/artifacts/release-notes.test.ts';
import './attest/artifacts/sbom.test.ts';
