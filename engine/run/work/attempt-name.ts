/** The name of an attempt in its run. */
export function attemptName(revision: number, number: number, attempt: number): string {
  return `task-${number}/revision-${revision}/attempt-${attempt}`;
}
