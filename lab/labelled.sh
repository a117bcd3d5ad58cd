#!/bin/bash
# Train on raw text labelled by five pipelines, for lab/trials.md. Requires prepared corpora
# and `spacy project run pretraining-text`.
set -euo pipefail

# label GOLD NEW EMBEDDER/VARIANT OPTIONS: make the corpus NEW from GOLD and labelled texts
label() {
    local gold=$1 new=$2 trials=$3
    shift 3
    mkdir -p "corpus/$new/train.spacy"
    cp "corpus/$gold/dev.spacy" "corpus/$gold/test.spacy" "corpus/$new"
    cp "corpus/$gold/train.spacy" "corpus/$new/train.spacy/gold.spacy"
    spacy hashembeds label "training/$gold/$trials"/seed*/model-best \
        -o "corpus/$new/train.spacy/labelled.spacy" "$@"
}

raw=assets/pretrained/wnut17.spacy
drawn=(--raw "$raw" --limit 20000)
for split in train dev test; do
    drawn+=(--exclude "corpus/wnut17/$split.spacy")
done

python -m lab sweep joined --datasets wnut17 --embedders subword_token_ner \
    --variants joined_balanced_dropout03
label wnut17 wnut17_labelled subword_token_ner/joined_balanced_dropout03 "${drawn[@]}"
python -m lab sweep labelled --datasets wnut17_labelled --seeds 0,1,2

# pretrain on the same text, by the config of `spacy hashembeds config`
spacy init config configs/init_config.cfg --lang en --pipeline ner --force
spacy hashembeds config configs/init_config.cfg -o configs/raw_recommended.cfg \
    --train corpus/wnut17/train.spacy --raw "$raw" --force
spacy pretrain configs/raw_recommended.cfg pretrained/raw_recommended
for seed in 0 1 2 3 4; do
    python -m lab trial wnut17 raw_recommended --seed $seed \
        --variant pretrained2400_dropout03 --training.max_steps 2400 --training.dropout 0.3
done
label wnut17 wnut17_labelled_pretrained raw_recommended/pretrained2400_dropout03 \
    "${drawn[@]}"
for seed in 0 1 2; do
    python -m lab trial wnut17_labelled_pretrained raw_recommended --seed $seed \
        --variant pretrained4800_dropout03 --training.max_steps 4800 \
        --training.dropout 0.3 --nlp.lang en
done

# raw text of another domain: news
python -m lab sweep joined --datasets anem --embedders subword_token_ner --variants joined
label anem anem_labelled subword_token_ner/joined --raw corpus/ag_news_small/train.spacy
python -m lab sweep labelled --datasets anem_labelled --seeds 0,1,2

# a quarter of the training data, and the rest as raw text
for corpus in anem conll2002_es conll2002_nl; do
    mkdir -p corpus/${corpus}_quarter
    cp corpus/$corpus/dev.spacy corpus/$corpus/test.spacy corpus/${corpus}_quarter
    python - $corpus <<'END'
import sys
from spacy.tokens import DocBin
from spacy.vocab import Vocab
corpus = f"corpus/{sys.argv[1]}"
docs = list(DocBin().from_disk(f"{corpus}/train.spacy").get_docs(Vocab()))
parts = {"train": docs[: len(docs) // 4], "rest": docs[len(docs) // 4 :]}
attrs = ["ORTH", "NORM", "ENT_IOB", "ENT_TYPE", "SENT_START"]
for name, part in parts.items():
    kept = DocBin(attrs, store_user_data=True, docs=part)
    kept.to_disk(f"{corpus}_quarter/{name}.spacy")
END
    python -m lab sweep labelled --datasets ${corpus}_quarter
    label ${corpus}_quarter ${corpus}_quarter_labelled subword_token_ner/joined \
        --raw corpus/${corpus}_quarter/rest.spacy
    python -m lab sweep labelled --datasets ${corpus}_quarter_labelled --seeds 0,1,2
done
