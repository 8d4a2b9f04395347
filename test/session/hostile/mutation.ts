import type { RequestParts } from '../../service/hostile/sound-request.ts';
import type { Scene, SessionPlace } from './open-session-place.ts';
import type { RouteLine } from './route-lines.ts';
import { sessionRequest } from './session-request.ts';

/** What is done to a sound request of each route, and what then comes of it. */
export interface Mutation {
  readonly says: string;
  readonly scene: Scene;
  /** Routes that it is done to. */
  readonly on: (line: RouteLine) => boolean;
  readonly send: (place: SessionPlace, line: RouteLine) => Uint8Array;
  /** `sound`: as if nothing had been done to it. */
  readonly comes: Refusal | 'sound' | ((line: RouteLine) => Refusal);
  readonly halfCloses?: true;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly allow?: string;
}

type Change = RequestParts | ((place: SessionPlace, line: RouteLine) => RequestParts | Buffer);

export const everyRoute = (): boolean => true;
export const writes = ({ method }: RouteLine): boolean => method === 'POST';
export const needsLease = ({ shows }: RouteLine): boolean => shows === 'lease';

/** Mutations of one kind: routes, what comes of it, and for each what it says and what is changed. */
export function mutations(
  on: Mutation['on'],
  comes: Mutation['comes'],
  changes: Readonly<Record<string, Change>>,
  scene: Scene = 'held by a browser',
): readonly Mutation[] {
  return Object.entries(changes).map(([says, change]) => ({
    says,
    scene,
    on,
    comes,
    send: (place, line) => {
      const parts = typeof change === 'function' ? change(place, line) : change;
      return Buffer.isBuffer(parts) ? parts : sessionRequest(place, line, parts);
    },
  }));
}
