/** Measured times: with a fraction, or said to be one. What a person writes down is a round number. */
const measured = /\bduration_ms(?:: ?| )\d{1,16}(?:\.\d{1,16})?|\b\d{1,16}\.\d{1,16} ?m?s\b/g;

/** What a failed check printed (`failedOutput`), up to the end of its fence: it names paths and versions. */
const checkOutput = /^output of check [^\n]{1,200}:\n[\s\S]*?(?=\n<\/untrusted>|(?![\s\S]))/gm;

/** A JSON value without text that differs between two machines or two runs of one test suite. */
export function withoutMachineText(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(checkOutput, '[output of checks]').replace(measured, '[time]');
  if (Array.isArray(value)) return value.map(withoutMachineText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, withoutMachineText(inside)]),
  );
}
