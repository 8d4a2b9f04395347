import { parseAnyBundle } from '../../attest/bundle/any-bundle.ts';
import type { GivenArtifact } from '../../attest/verify/given-artifact.ts';
import { commitsOf, describeSubject, relatedArtifacts } from '../../attest/verify/match-subject.ts';
import { readAttestation } from '../../attest/verify/read-attestation.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { VerifyDemands } from './demands.ts';
import type { FilePart } from './split-file.ts';

/** A part of a file that is verified, with the artifacts that it must be about. */
export interface SelectedPart {
  readonly part: FilePart;
  readonly artifacts: readonly GivenArtifact[];
}

/** A part of a file that says of itself that it is about something else, or of another type. */
export interface SkippedPart {
  readonly line: number;
  readonly code: 'wrong-subject' | 'wrong-type';
  readonly found: readonly string[];
}

/** Most subjects of a skipped part that are shown. */
const maxShown = 3;

/**
 * Selects the parts of a file of several attestations that the demands are about: those of a type that is asked for
 * (`--type`), about an artifact that is given, and about a commit that is asked for. Selection reads claims before
 * their signature is verified. That only leaves parts out, which the writer of the file could do as well. A part that
 * cannot be read is selected. If the selected parts are not about every artifact, all parts are selected, so that the
 * verdict says what was found.
 */
export function selectParts(
  parts: readonly FilePart[],
  demands: Pick<VerifyDemands, 'artifacts' | 'types' | 'commits'>,
): { readonly selected: readonly SelectedPart[]; readonly skipped: readonly SkippedPart[] } {
  const { artifacts, types, commits = [] } = demands;
  const all = parts.map((part) => ({ part, artifacts }));
  if (parts.length < 2 || artifacts.length + types.length + commits.length === 0)
    return { selected: all, skipped: [] };
  const selected: SelectedPart[] = [];
  const skipped: SkippedPart[] = [];
  const covered = new Set<GivenArtifact>();
  for (const [n, part] of parts.entries()) {
    const claims = readClaims(part, artifacts);
    const line = part.line ?? n + 1;
    if (claims?.type !== undefined && types.length > 0 && !types.includes(claims.type))
      skipped.push({ line, code: 'wrong-type', found: [claims.type] });
    else if (claims && isAboutOthers(claims, demands))
      skipped.push({ line, code: 'wrong-subject', found: claims.subjects });
    else {
      const related = claims?.related ?? artifacts;
      selected.push({ part, artifacts: related });
      for (const artifact of related) covered.add(artifact);
    }
  }
  const isComplete = selected.length > 0 && artifacts.every((artifact) => covered.has(artifact));
  return isComplete ? { selected, skipped } : { selected: all, skipped: [] };
}

/**
 * Whether a demand about the source of the build (`--source-repository`, `--source-ref`) applies to a part: in a file
 * with certificates only to parts signed by one, since a signature by a key can name no source. Every selected part has
 * to hold, so the certificate that makes others exempt is verified.
 */
export function sourceDemandedOf(selected: readonly SelectedPart[]): (selected: SelectedPart) => boolean {
  const certified = new Set(selected.filter(({ part }) => isCertified(part)));
  return (one) => certified.size === 0 || certified.has(one) || one.part.kind !== 'attestation';
}

function isCertified({ kind, bytes }: FilePart): boolean {
  if (kind !== 'attestation') return false;
  try {
    return parseAnyBundle(bytes).material.kind === 'certificate';
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return false;
  }
}

function isAboutOthers(
  { related, commits }: Claims,
  { artifacts, commits: asked = [] }: Pick<VerifyDemands, 'artifacts' | 'commits'>,
): boolean {
  if (artifacts.length > 0 && related.length === 0) return true;
  return asked.length > 0 && !asked.some((id) => commits.has(id));
}

interface Claims {
  /** Predicate type; absent for a message signature. */
  readonly type?: string;
  readonly subjects: readonly string[];
  readonly related: readonly GivenArtifact[];
  readonly commits: ReadonlySet<string>;
}

/** Returns what a bundle says of itself; `undefined` where it is no readable attestation. */
function readClaims({ kind, bytes }: FilePart, artifacts: readonly GivenArtifact[]): Claims | undefined {
  if (kind !== 'attestation') return undefined;
  try {
    const { content } = parseAnyBundle(bytes);
    if (content.kind !== 'envelope') return undefined;
    const { predicateType, subjects } = readAttestation(content.payloadType, content.payload);
    return {
      type: predicateType,
      subjects: subjects.slice(0, maxShown).flatMap(describeSubject),
      related: relatedArtifacts(subjects, artifacts),
      commits: new Set(commitsOf(subjects)),
    };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return undefined;
  }
}
