/**
 * What a program reads as JSON: JSON-safe, snake_case, absent fields left out; its shape is what `writ schema COMMAND`
 * prints.
 */
export type JsonData = Readonly<Record<string, unknown>>;
