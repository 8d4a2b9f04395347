export function judge(): never {
  for (;;);
}
