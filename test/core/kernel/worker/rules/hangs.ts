export function judge(): Promise<never> {
  return new Promise(() => {});
}
