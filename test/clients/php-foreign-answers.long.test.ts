import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hasTool, testWith } from "../process/require-tool.ts";

const AUTOLOAD = fileURLToPath(new URL("../../../clients/php/src/autoload.php", import.meta.url));

const PROGRAM = `
require $argv[1];
$seen = [];
set_error_handler(function (int $level, string $text) use (&$seen) { $seen[] = $text; return true; });
$transport = new class implements Gatepost\\Transport {
    public string $text = '';
    public function send(Gatepost\\Request $request, Gatepost\\Deadline $deadline): Gatepost\\Response
    {
        return new Gatepost\\Response(200, ['content-type' => 'application/json'], $this->text);
    }
};
$gatepost = new Gatepost\\Client('http://127.0.0.1:9', transport: $transport);
foreach (json_decode($argv[2]) as $transport->text) {
    $text = $transport->text;
    try {
        $gatepost->check('jo@x.example');
        $seen[] = "read: $text";
    } catch (Gatepost\\GatepostException $fault) {
        if ($fault->kind !== 'answer') $seen[] = $fault->kind;
    }
}
echo json_encode($seen);`;

const ANSWERS = [
  "null",
  "7",
  '"text"',
  "[]",
  '{"ok":true}',
  '{"format":true}',
  "<html>",
  '[{"format":true}]',
];

testWith(
  ["php"],
  hasTool("php") ? [] : ["php"],
  "PHP: check() of an answer of another program raises no warning",
  async () => {
    const words = ["-r", PROGRAM, "--", AUTOLOAD, JSON.stringify(ANSWERS)];
    const { stdout, stderr } = await promisify(execFile)("php", words);
    assert.deepEqual([stdout, stderr], ["[]", ""]);
  },
);
