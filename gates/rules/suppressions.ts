import type { Finding } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { createAnchorScanner } from '../../core/privacy/secrets/anchor-scanner.ts';
import { hunkLines } from '../../core/patch/hunk-lines.ts';
import { type SuppressionMarker, suppressionMarkers } from '../suppressions/markers.ts';

const rule = 'suppressions';
const maxFindings = 500;
/** A marker deeper in a line than this is looked for no more: nobody writes comments there. */
const maxLineBytes = 64 * 1024;
const known = new Set(['forbid', 'allow_tools']);
const byAnchor = Map.groupBy(
  suppressionMarkers.flatMap((marker) => marker.anchors.map((anchor) => ({ anchor, marker }))),
  ({ anchor }) => anchor,
);
const scanner = createAnchorScanner(byAnchor.keys());
const openings = /\/\/|\/\*|#|--|<!--|;|%|^\s*\*|"""|'''/;

/**
 * Lists every added line that tells a tool to look away: an inline suppression decides what a reviewer gets to see, so it is counted.
 * `[rules.suppressions] forbid = true` refuses them, but for those of `allow_tools`.
 */
export const judge: RuleFunction = (input) => {
  const { forbid = false, allow_tools: allowed = [] } = input.options;
  const problem = optionProblem(input.options);
  if (problem !== undefined)
    return [
      {
        rule,
        severity: 'error',
        message: `\`[rules.suppressions]\` in \`.writ/config.toml\` at base is wrong: ${problem}`,
      },
    ];
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    if (file.changeType === 'delete' || file.binary) continue;
    if (scanner.next(input.patch.diff, file.start, file.end) < 0) continue;
    for (const { line, column, tool } of marked(input, file)) {
      const isForbidden = forbid === true && !(allowed as readonly string[]).includes(tool);
      findings.push({
        rule,
        severity: isForbidden ? 'error' : 'note',
        message: `an added line tells \`${tool}\` to look away`,
        path: file.path,
        line,
        column,
        detail: { tool },
      });
      if (findings.length >= maxFindings) return [...findings, tooMany(forbid === true)];
    }
  }
  return findings;
};

function* marked(
  { patch }: RuleInput,
  file: PatchFile,
): Generator<{ readonly line: number; readonly column: number; readonly tool: string }> {
  const diff = Buffer.from(patch.diff.buffer, patch.diff.byteOffset, patch.diff.byteLength);
  for (const { kind, line, start, end } of hunkLines(patch.diff, file)) {
    if (kind !== 'added') continue;
    const last = Math.min(end, start + maxLineBytes);
    const tools = new Set<string>();
    for (let at = scanner.next(diff, start, last); at >= 0; at = scanner.next(diff, at + 1, last)) {
      const anchor = diff.toString('latin1', at, at + 4);
      for (const { marker } of byAnchor.get(anchor) ?? []) {
        if (tools.has(marker.tool) || !isMarker(marker, diff, start, at, last)) continue;
        tools.add(marker.tool);
        yield { line, column: diff.toString('utf8', start, at).length + 1, tool: marker.tool };
      }
    }
  }
}

/** The form stands there as a word of its own, in a comment or as syntax. */
function isMarker(marker: SuppressionMarker, diff: Buffer, start: number, at: number, end: number): boolean {
  if (!marker.form.test(diff.toString('latin1', at, Math.min(end, at + 120)))) return false;
  const before = diff.toString('latin1', start, at);
  if (/[\w-]$/.test(before)) return false;
  return marker.isSyntax === true || marker.form.source.startsWith('^#') || openings.test(before);
}

function optionProblem(options: RuleInput['options']): string | undefined {
  const { forbid = false, allow_tools: allowed = [] } = options;
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown !== undefined) return `\`${unknown}\` is no option; known are \`forbid\` and \`allow_tools\``;
  if (typeof forbid !== 'boolean') return '`forbid` is expected to be true or false';
  const tools = new Set(suppressionMarkers.map(({ tool }) => tool));
  const wrong = Array.isArray(allowed) ? allowed.find((tool) => !tools.has(String(tool))) : String(allowed);
  if (wrong === undefined) return undefined;
  return `\`allow_tools\` is expected to name tools among ${[...tools].join(', ')}`;
}

function tooMany(forbid: boolean): Finding {
  const message = `more than ${maxFindings} inline suppressions; the rest is not listed`;
  return { rule, severity: forbid ? 'error' : 'note', message };
}
