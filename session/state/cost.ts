/** What the work at one Task of a plan came to, or is expected to. */
export interface StepCost {
  /** The line of the plan that the Task begins with: it is worked as a whole, and so it is paid. */
  readonly line: string;
  readonly tokens: number;
  /** Absent where nobody knows the price of the model. */
  readonly costUsd?: number;
}
