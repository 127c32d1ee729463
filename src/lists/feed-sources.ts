import { dayOfDate } from "../core/calendar.ts";
import type { FeedKind } from "../core/evidence/datasets.ts";
import { rowsOf } from "../core/tables/rows.ts";
import * as TEXTS from "../core/tables/texts.ts";
import {
  bundledText,
  castleRows,
  fakefilterHosts,
  jsonStrings,
  lines,
  type PackageId,
} from "./packages.ts";

export interface FeedLicence {
  readonly spdx: string;
  readonly copyright: string;
  readonly url: string;
}

export interface RetainedName {
  readonly name: string;
  readonly sinceDay: number;
  readonly seenDay: number;
}

export interface FetchedSource {
  readonly id: string;
  readonly kind: FeedKind;
  readonly path: string;
  readonly read: (text: string) => readonly string[];
  readonly floor: number;
  /** On which its names may be passed on; absent: they may not, and `/feeds/disposable` leaves them out. */
  readonly licence?: FeedLicence;
  /** Only a part of it is published each day: names are kept as `KEPT_UNSEEN_DAYS` says. */
  readonly rotating: boolean;
  readonly bundled?: PackageId;
  readonly seed?: () => readonly RetainedName[];
}

/** How the names are found in a fetched file. A line that begins with "#" is a remark. */
const FORMATS: Readonly<Record<string, FetchedSource["read"]>> = {
  fakefilter: fakefilterHosts,
  json: jsonStrings,
  lines: (text) => lines(text).filter((line) => !line.startsWith("#")),
};

export const FETCHED_SOURCES: readonly FetchedSource[] = rowsOf(TEXTS.feeds).map((row) => {
  const [id = "", kind, format = "", floor, bundled, rotating, path = "", , spdx, copyright] = row;
  const url = `https://github.com/${path.split("/", 2).join("/")}`;
  return {
    id,
    kind: kind as FeedKind,
    path,
    read: FORMATS[format] ?? jsonStrings,
    floor: Number(floor),
    rotating: rotating === "yes",
    ...(spdx !== undefined && { licence: { spdx, copyright: copyright ?? "", url } }),
    ...(bundled === "yes" && { bundled: id as PackageId }),
    ...(id === "castle" && { seed: castleDays }),
  };
});

/** The names of castle's day lists that come with the release (`feeds/castle.csv`), with their days. */
export function castleDays(): readonly RetainedName[] {
  return castleRows(bundledText("castle")).map(([name = "", since = "", seen = ""]) => ({
    name,
    sinceDay: dayOfDate(since) ?? 0,
    seenDay: dayOfDate(seen) ?? 0,
  }));
}

/** Days on which it was fetched: after months offline the first fetch would otherwise drop the whole history. */
export const KEPT_UNSEEN_DAYS = 180;

/** Every whole list holds these four; one without them is some other file. */
export const ALWAYS_LISTED: readonly string[] = [
  "guerrillamail.com",
  "mailinator.com",
  "sharklasers.com",
  "yopmail.com",
];

export const licenceOf = (id: string): FeedLicence | undefined =>
  FETCHED_SOURCES.find((source) => source.id === id)?.licence;

/** Texts that a copy of the lists must carry, by SPDX identifier; the copyright lines belong to the feeds. */
export const LICENCE_TEXTS: Readonly<Record<string, string>> = {
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  "BSD-3-Clause": `Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`,
  "CC0-1.0":
    "To the extent possible under law, the authors have waived all copyright and related or neighbouring rights to this list: https://creativecommons.org/publicdomain/zero/1.0/",
};
