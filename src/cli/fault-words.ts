/** What a fault of the file system means, and what to do. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied; change its permissions, or run the command as its owner",
  EDQUOT: "the disk quota is used up; free some space, or write elsewhere",
  EEXIST: "it exists already; choose another name",
  EFBIG: "the file would be larger than the file system allows; write elsewhere",
  EIO: "the disk or device reports an error; see the system's log",
  EISDIR: "it is a folder; name a file",
  ELOOP: "its symbolic links lead in a circle; name the file itself",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
  ENAMETOOLONG: "the name is too long; choose a shorter one",
  ENOENT: "no such file or folder; check the name and the folder you are in",
  ENOSPC: "no space is left; free some, or write elsewhere",
  ENOTDIR: "a part of this path is a file, not a folder; check the name",
  EPERM: "the system does not allow it; run the command as the owner of the file",
  EROFS: "the file system is read-only; write elsewhere",
  ETXTBSY: "a program that runs uses it; stop the program, or write elsewhere",
};

/** One sentence for a fault: one of the file system names the file and says what to do. */
export function wordsOf(fault: unknown): string {
  const { code, path } = Object(fault) as Partial<Record<string, unknown>>;
  const words = fault instanceof Error ? fault.message : String(fault);
  if (typeof code !== "string" || typeof path !== "string") return words;
  return `${path}: ${FILE_FAULTS[code] ?? words}`;
}
