import type { Finding } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { AnchorTest, CandidateSearch, RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { createAnchorSearch } from '../../readers/anchors/anchor-search.ts';
import { hunkLines } from '../../readers/diff/hunk-lines.ts';
import { addedBinaryLines, isNamedAsText } from '../source/binary-text.ts';
import { lineMarks } from '../source/line-marks.ts';
import { type SuppressionMarker, suppressionMarkers } from '../suppressions/markers.ts';

const rule = 'suppressions';
const maxFindings = 500;
/** A marker deeper in a line than this is looked for no more: nobody writes comments there. */
const maxLineBytes = 64 * 1024;
const maxFormBytes = 120;
const known = new Set(['forbid', 'allow_tools']);
const search = createAnchorSearch(
  suppressionMarkers.flatMap((marker) => marker.anchors.map((anchor) => [marker, anchor] as const)),
);
const byHead = Map.groupBy(
  suppressionMarkers.flatMap((marker) =>
    marker.anchors.map((anchor) => ({ head: anchor.slice(0, 4), marker })),
  ),
  ({ head }) => head,
);
const plus = 43;
const openings = /\/\/|\/\*|#|--|<!--|;|%|^\s*\*|"""|'''/;

/**
 * Lists every added line that tells a tool to look away: an inline suppression decides what a reviewer gets to see, so
 * it is counted. `[rules.suppressions] forbid = true` refuses them, but for those of `allow_tools`.
 */
export const judge: RuleFunction = (input) => {
  const { forbid = false, allow_tools: allowed = [] } = input.options;
  const problem = optionProblem(input.options);
  if (problem !== undefined)
    return [
      {
        rule,
        severity: 'error',
        message: `\`[rules.suppressions]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
      },
    ];
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    if (file.changeType === 'delete' || isPicture(file)) continue;
    for (const { line, column, tool } of file.binary ? markedInBinary(input, file) : marked(input, file)) {
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

/** Files in which a marker's form stands on an added line, in a comment or not. */
export const candidates: CandidateSearch = {
  anchors: [...new Set(suppressionMarkers.flatMap(({ anchors }) => anchors))],
  begin(input, file) {
    if (Object.keys(input.options).length > 0 && optionProblem(input.options) !== undefined) return true;
    if (file.changeType === 'delete' || isPicture(file)) return false;
    return file.binary || formTest(input.patch.diff, file);
  },
};

/** What is no text to its name either; the others are read, a NUL hides nothing. */
function isPicture({ binary, path }: PatchFile): boolean {
  return binary && !isNamedAsText(path);
}

function formTest(bytes: Uint8Array, file: PatchFile): AnchorTest {
  const markAt = lineMarks(bytes, file);
  const diff = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (at) => {
    const text = diff.toString('latin1', at, Math.min(file.end, at + maxFormBytes));
    return (
      (byHead.get(text.slice(0, 4)) ?? []).some(({ marker }) => marker.form.test(text)) && markAt(at) === plus
    );
  };
}

interface Marked {
  readonly line: number;
  readonly column: number;
  readonly tool: string;
}

interface Place {
  readonly at: number;
  readonly marker: SuppressionMarker;
}

/** Places where a form stands are found in all of the file at once; only then its lines are walked. */
function* marked({ patch }: RuleInput, file: PatchFile): Generator<Marked> {
  const test = formTest(patch.diff, file);
  const places: Place[] = [];
  search.scan(patch.diff, file.start, file.end, (marker, at) => {
    if (test(at)) places.push({ at, marker });
    return false;
  });
  if (places.length === 0) return;
  places.sort((a, b) => a.at - b.at);
  const diff = Buffer.from(patch.diff.buffer, patch.diff.byteOffset, patch.diff.byteLength);
  let next = 0;
  for (const { kind, line, start, end } of hunkLines(patch.diff, file)) {
    const onLine: Place[] = [];
    for (let place = places[next]; place !== undefined && place.at < end; place = places[++next])
      onLine.push(place);
    if (kind === 'added') yield* markedOnLine(diff, { line, start, end }, onLine);
    if (next === places.length) return;
  }
}

/** What the diff does not tell is not looked at: the rule on secrets says so of each such file. */
function* markedInBinary({ patch }: RuleInput, file: PatchFile): Generator<Marked> {
  for (const { line, bytes } of addedBinaryLines(patch.diff, file) ?? []) {
    const plain = bytes.includes(0) ? Buffer.from(bytes.filter((byte) => byte !== 0)) : bytes;
    const places: Place[] = [];
    search.scan(plain, 0, plain.length, (marker, at) => {
      places.push({ at, marker });
      return false;
    });
    places.sort((a, b) => a.at - b.at);
    yield* markedOnLine(plain, { line, start: 0, end: plain.length }, places);
  }
}

function* markedOnLine(
  bytes: Buffer,
  { line, start, end }: { readonly line: number; readonly start: number; readonly end: number },
  places: readonly Place[],
): Generator<Marked> {
  const tools = new Set<string>();
  // `#nosec` is no `nosec` besides.
  let covered = start;
  const last = Math.min(end, start + maxLineBytes);
  for (const { at, marker } of places) {
    if (at < covered || at >= last || tools.has(marker.tool)) continue;
    if (!isMarker(marker, bytes, start, at, last)) continue;
    covered = at + formLength(marker, bytes, at, last);
    tools.add(marker.tool);
    yield { line, column: bytes.toString('utf8', start, at).length + 1, tool: marker.tool };
  }
}

function formLength({ form }: SuppressionMarker, diff: Buffer, at: number, end: number): number {
  return form.exec(diff.toString('latin1', at, Math.min(end, at + maxFormBytes)))?.[0].length ?? 0;
}

/** The form stands there as a word of its own, in a comment or as syntax. */
function isMarker(marker: SuppressionMarker, diff: Buffer, start: number, at: number, end: number): boolean {
  if (!marker.form.test(diff.toString('latin1', at, Math.min(end, at + maxFormBytes)))) return false;
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
