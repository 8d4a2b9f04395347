/** True for what others wrote and this tree only keeps. */
export function isVendored(path: string): boolean {
  return path.startsWith('node_modules/') || path.includes('/node_modules/');
}
