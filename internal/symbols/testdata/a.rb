module App
  class Store < Base
    LIMIT = 3
    attr_reader :name, :path
    def self.open(path) = new(path)
    def size
      if x then 1 else 2 end
    end
    def empty?; size == 0; end
    def name=(v)
      @x = <<~TEXT
        def no
        end
      TEXT
    end
    def [](i)
    end
    class << self
      def build
      end
    end
    alias count size
  end
  Point = Struct.new(:x)
end
def top(a) puts "def no #{a}" end

def after_dollars
  text = $` + $'
  assert_equal %(<a href="x"), text
  pattern = /\A
    (?:a "lone quote)   # a comment: it's fine
  /x
end

def after_strings; end

class Operators
  def /(other) = divide(:/, other)
  def %(other)
    divide(:%, other)
  end
  def symbol
    :"#{name}_key"
    assert_no_match %r/it's/, text
  end
  def bare
    (a || b) == :lazily
  end
  def end
    @end
  end
  def warned
    warn <<~WARNING
      WARNING: it's
      end
    WARNING
    1
  end
  def (self.other).single
    run(Class.new { def x; end }.new)
  end
  def last; end
end
