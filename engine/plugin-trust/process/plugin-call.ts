/** One call of a function that a module of the plugin exports. */
export interface PluginCall {
  /** A file of the plugin. */
  readonly module: string;
  readonly call: string;
  /** Plain data, and bytes; the last is an object, to which `signal` is added inside. */
  readonly args: readonly unknown[];
  /** Handed over in `args`: no fault tells them. */
  readonly secrets: readonly string[];
  /** Between two pieces of an answer, and for the whole of it. */
  readonly idleMs: number;
  readonly withinMs: number;
  /** Of the whole answer. */
  readonly maxBytes: number;
}
