export async function judge(): Promise<never> {
  throw Object.create(null);
}
