package App::Store;
use constant LIMIT => 3;
use constant { A => 1, B => 2 };
sub new { my $s = q{sub no { }}; return bless {}, shift; }
sub _private($x) {
    my $t = <<"END";
sub no { }
END
    return $t =~ m{sub x};
}
=head1 sub

sub no { }

=cut
package Other { sub run { 1 } }
sub defined_or { (shift->{state} // '') eq 'done' }

sub after_defined_or {
    my $x = shift // 'sub no {';
    return split //, $x;
}

__END__
sub no {}
