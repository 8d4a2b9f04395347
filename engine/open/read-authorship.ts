import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import type { Authorship } from '../../store/record/gate-report.ts';
import { listPeople, readIdentity } from '../../workspace/git/commit-log.ts';
import { formatIdentity, type Identity } from '../../workspace/git/identity.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { statedAuthors } from '../../workspace/patch/mail.ts';
import { touchesGoverning } from '../../workspace/patch/patch-paths.ts';
import type { ResolvedRange } from '../../workspace/patch/read-patch.ts';
import type { RunRequest } from '../state/run-request.ts';

/** Reads from the change who made it; if it names no one, the submitter is the author. */
export async function readAuthorship(
  repository: Repository,
  source: RunRequest['source'],
  range: ResolvedRange | undefined,
): Promise<Authorship> {
  if (range) {
    const { authors, committers } = await listPeople(repository, range.base.commit, range.tip);
    const named = { authors: authors.map(formatIdentity), committers: committers.map(formatIdentity) };
    return authors.length === 0 ? { ...named, ...(await broughtBy(repository)) } : named;
  }
  const stated = source.kind === 'patch' ? statedAuthors(source.bytes) : { authors: [], unsigned: true };
  return {
    authors: stated.authors.map(formatIdentity),
    committers: [],
    ...(stated.unsigned ? await broughtBy(repository) : {}),
  };
}

/** Adds the author that `--author` names; existing authors stay. */
export function withAuthor(found: Authorship, given: Identity | undefined): Authorship {
  return given ? { ...found, authors: [...new Set([formatIdentity(given), ...found.authors])] } : found;
}

async function broughtBy(repository: Repository): Promise<Pick<Authorship, 'broughtBy'>> {
  const runner: Identity | undefined = await readIdentity(repository);
  return runner ? { broughtBy: formatIdentity(runner) } : {};
}

/** Throws AUTHOR_UNKNOWN if a change needs approval and has no known author: its submitter could then approve it. */
export function requireKnownAuthor(
  authorship: Authorship,
  spec: EffectiveIntentSpec,
  patch: PatchSet | undefined,
): void {
  if (authorship.authors.length > 0 || authorship.broughtBy !== undefined) return;
  if (asksPeople(spec) || touchesGoverning(patch?.files ?? [])) throw new WritError('AUTHOR_UNKNOWN');
}

function asksPeople({ risk, acceptance }: EffectiveIntentSpec): boolean {
  return (
    risk.humanInLoop.required ||
    stageNames.some((stage) =>
      acceptance.verificationPlan[`${stage}Checks`].some(
        ({ kind, command }) => kind === 'policy' && /^\s*["']?require-approvers\b/.test(command ?? ''),
      ),
    )
  );
}
