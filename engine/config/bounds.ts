/* Bounds of settings that command lines accept as well; without imports, so that the screen starts quickly. */

/** The longest time for which one approval of a command counts: a day. Seconds. */
export const maxApprovalTtlSeconds = 86_400;

/** The smallest and the largest budget of a session, in USD. */
export const budgetBounds = { min: 0.01, max: 1_000_000 } as const;
