import { documentation, goes } from '../../../core/contract/tests-may-go.ts';
import type { IntentDraft } from './intent-draft.ts';

/**
 * What a person has to agree to because the words of a draft would let tests go (resolutions, Tests are kept): an
 * objective that speaks of removal, and `docs` that reaches further than documentation.
 */
export function questionsOfTests({
  objectives,
  changeType,
  inScope,
  files,
}: Pick<IntentDraft, 'objectives' | 'changeType' | 'inScope' | 'files'>): readonly string[] {
  const wide = changeType === 'docs' ? [...inScope, ...files].filter((place) => !isDocumentation(place)) : [];
  return [
    ...objectives
      .filter((objective) => goes.test(objective))
      .map((objective) => `may tests go that this names: ${objective.slice(0, 200)}?`),
    ...(wide.length === 0
      ? []
      : [
          `may tests go, as a change of \`docs\` lets them, in ${wide.slice(0, 5).join(', ').slice(0, 200)}?`,
        ]),
  ];
}

/** A directory of documentation, or a file of it. */
function isDocumentation(place: string): boolean {
  return documentation.test(place.endsWith('/') ? place : `${place}/`) || documentation.test(place);
}
