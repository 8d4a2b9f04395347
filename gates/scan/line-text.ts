import type { SarifFinding } from '../../readers/documents/sarif/build-sarif.ts';
import type { ScannedFinding } from './scanned-finding.ts';

/** Findings with the text of their own line where it is known, which makes their fingerprints survive moved lines. */
export function withLineText(findings: readonly ScannedFinding[]): readonly SarifFinding[] {
  return findings.map(({ around, ...finding }) => {
    const lineText = around?.find(({ line }) => line === finding.line)?.text;
    return lineText === undefined ? finding : { ...finding, lineText };
  });
}
