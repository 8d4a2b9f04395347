import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { explain } from '../../attest/verify/explain.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { printVerdict, tones } from './scan.ts';

/** The claims about one target as a tree: claim, then evidence, signer, log and rule below it. */
export function printExplanation(printer: Printer, verified: VerifiedTarget): void {
  printVerdict(printer, verified);
  for (const { claim, status, code, says, evidence, signer, log, rule } of explain(verified.report)) {
    const why = code === undefined || code === status ? '' : `  ${code}`;
    printer.line('  ', styled('bold', claim), '  ', styled(tones[status], status), why);
    const leaves: (readonly [string, string])[] = [
      ['claim', says],
      ...evidence.map(({ name, sha256 }) => ['evidence', `${name}  sha256:${sha256}`] as const),
    ];
    if (signer)
      leaves.push([
        'signer',
        'key_id' in signer
          ? `key ${signer.key_id} (${signer.anchor})`
          : `${signer.identity}, by ${signer.issuer}`,
      ]);
    if (log) leaves.push(['log', `${log.origin}  entry ${log.index} of ${log.size}`]);
    leaves.push(['rule', rule]);
    for (const [n, [name, text]] of leaves.entries())
      printer.line(`    ${n === leaves.length - 1 ? '└' : '├'} ${name.padEnd(9)}`, styled('dim', text));
  }
}
