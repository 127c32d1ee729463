/** Whether one letter too many, missing, wrong or swapped with its neighbour is all that differs. */
export function editDistanceOne(text: string, name: string): boolean {
  let start = 0;
  while (start < text.length && text[start] === name[start]) start += 1;
  let end = 0;
  const most = Math.min(text.length, name.length) - start;
  while (end < most && text.at(-1 - end) === name.at(-1 - end)) end += 1;
  const left = text.slice(start, text.length - end);
  const right = name.slice(start, name.length - end);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
