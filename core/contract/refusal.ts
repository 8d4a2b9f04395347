/** A guard's no. Which plugin gave it and at which hook is added by the engine. Lines count from 1. */
export interface Refusal {
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  /** What was expected and found, JSON-safe. */
  readonly detail?: Readonly<Record<string, unknown>>;
}
