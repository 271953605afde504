<html><?php
namespace App\Core;
use X\{A, B};
const LIMIT = 3;
abstract class Store extends Base implements I {
    const MAX = 1;
    private ?string $name = 'class X {}';
    public function __construct(private int $n) {}
    abstract protected static function open(string $a): ?self;
    public function &find(): array { return array_map(function ($x) { return $x; }, []); }
}
interface Opener { public function run(); }
trait Helps { function help() { $s = <<<EOT
function no() {}
EOT; } }
enum Mode: string { case On = 'on'; }
function top() { }
?>
function no() {}
