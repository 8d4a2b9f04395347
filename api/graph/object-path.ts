import { sealPaths } from '../../engine/store/record/seal-paths.ts';
import { waitingFolder } from '../../engine/store/record/waiting-folder.ts';

/** What of a run's record is drawn, most telling first: where not all of it is, the last are left out. */
export const drawnTypes = ['run', 'plan', 'decision', 'task', 'patchset', 'evidence', 'intent'] as const;

export type DrawnType = (typeof drawnTypes)[number];

/** What a path of a run's record holds, as {@link recordFiles} lays it out; `undefined` for what is not drawn. */
export interface ObjectPath {
  readonly type: DrawnType;
  /** '' for the candidate that was decided on, else of an attempt or a candidate before it (`task-1/…/attempt-2`). */
  readonly folder: string;
}

const forms: readonly (readonly [DrawnType, RegExp])[] = [
  ['run', /^(?:(.+)\/)?run\.json$/],
  ['plan', /^(?:plans\/\d+\/)?plan\.json$/],
  ['task', /^(?:plans\/\d+\/)?tasks\/\d+\.json$/],
  [
    'decision',
    new RegExp(`^(?:${waitingFolder}/decision|decisions/[^/]+|${sealPaths.rollback.slice(0, -5)})\\.json$`),
  ],
  ['decision', /^(?:(.+)\/)?decision\.json$/],
  ['patchset', /^(?:(.+)\/)?patchset\.json$/],
  ['evidence', /^(?:(.+)\/)?evidence\/[^/]+\.json$/],
  ['intent', /^intent\.json$/],
];

/** Reads a path; `undefined` for what no drawing needs (events, frames, seals, reports). */
export function toObjectPath(path: string): ObjectPath | undefined {
  for (const [type, form] of forms) {
    const found = form.exec(path);
    if (found) return { type, folder: found[1] ?? '' };
  }
  return undefined;
}
