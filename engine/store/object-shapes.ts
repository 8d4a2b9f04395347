import { eventShapes } from './event-shapes.ts';
import type { artifactRef } from './part-shapes.ts';
import type { TypeOf } from './shape.ts';
import { snapshotShapes } from './snapshot-shapes.ts';

/** A reference to artifact content; the object that holds it stays when the content has expired. */
export type ArtifactRef = TypeOf<typeof artifactRef>;

/** The body of each object type; the header is the same for all. */
export const objectShapes = { ...snapshotShapes, ...eventShapes } as const;

export type ObjectType = keyof typeof objectShapes;
export type ObjectBody<T extends ObjectType> = TypeOf<(typeof objectShapes)[T]>;

/** Every object type, snapshots first. */
export const objectTypes = Object.keys(objectShapes) as readonly ObjectType[];
